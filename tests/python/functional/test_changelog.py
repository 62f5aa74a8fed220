"""Changelogs from Delta's change data feed and from other sources, in SQL and Python."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from delta_scd2 import changelog
from harness import DbtProject, tuples

FEED = "tblproperties (delta.enableChangeDataFeed = true)"

KINDS = {
    "upsert": ["insert", "INSERT", "update_postimage", "UPDATE_AFTER", "I", "u", "c", "r"],
    "delete": ["delete", "DELETE", "D", "d"],
    "before": ["update_preimage", "UPDATE_BEFORE"],
    None: ["update", "truncate", "t", "", None],
}

KIND_MODEL = """
{{ config(materialized='table') }}
select word, {{ _change_kind_sql('word') }} as kind from values %s as words (word)
"""

# Every range of one table, as one model.
RANGES_MODEL = """
{{{{ config(materialized='table') }}}}
{{% for from_version, to_version in {ranges} %}}
select {{{{ from_version }}}} as from_version, {{{{ to_version }}}} as to_version, *
from ({{{{ changelog(target.schema ~ '.{table}', keys={keys}, from_version=from_version, to_version=to_version) }}}})
{{{{ 'union all' if not loop.last }}}}
{{% endfor %}}
"""

Change = tuple[Any, ...]


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject], spark: SparkSession) -> DbtProject:
    project = make_project({})
    spark.sql(f"create schema {project.schema}")
    return project


def versions(project: DbtProject, table: str, *statements: str) -> None:
    """A table with the change data feed, whose version 0 and all later ones are made by one statement each."""
    first, *others = statements
    project.sql(f"create table {{schema}}.{table} using delta {FEED} as {first}")
    for statement in others:
        project.sql(statement)
    assert project.version(table) == len(others)


def in_sql(
    project: DbtProject, table: str, ranges: Iterable[tuple[int, int]], keys: list[str] | None
) -> dict[tuple[int, int], Counter[Change]]:
    model = f"{table}_{'net' if keys is None else 'keyed'}"
    ranges = list(ranges)
    project.write({f"models/{model}.sql": RANGES_MODEL.format(table=table, keys=keys, ranges=ranges)})
    project.succeed("run", "--select", model)
    found: dict[tuple[int, int], Counter[Change]] = {pair: Counter() for pair in ranges}
    for start, end, *change in tuples(project.sql(f"select * from {{schema}}.{model}")):
        found[start, end][tuple(change)] += 1
    return found


def in_python(
    project: DbtProject, table: str, ranges: Iterable[tuple[int, int]], keys: list[str] | None
) -> dict[tuple[int, int], Counter[Change]]:
    spark = SparkSession.active()
    name = f"{project.schema}.{table}"
    return {
        (start, end): rows(changelog(spark, name, keys, from_version=start, to_version=end)) for start, end in ranges
    }


def rows(frame: DataFrame) -> Counter[Change]:
    return Counter(tuples(frame.collect()))


LANGUAGES = pytest.mark.parametrize("read", [in_sql, in_python], ids=["sql", "python"])


def test_change_types_by_all_their_names(project: DbtProject) -> None:
    words = [word for words in KINDS.values() for word in words]
    values = ", ".join("(null)" if word is None else f"('{word}')" for word in words)
    project.write({"models/kinds.sql": KIND_MODEL % values})
    project.succeed("run", "--select", "kinds")
    expected = {word: kind for kind, words in KINDS.items() for word in words}
    assert dict(map(tuple, project.sql("select * from {schema}.kinds"))) == expected


# -- case 3

VALUES = "select * from values {} as t (id, value)"
OVERWRITTEN = [
    VALUES.format("('id1', 'val1')"),
    "insert overwrite {schema}.overwritten values ('id1', 'val2')",
    "insert overwrite {schema}.overwritten values ('id1', 'val3'), ('id2', 'val2')",
    "insert overwrite {schema}.overwritten values ('id1', 'val3'), ('id1', 'val3')",
]
MERGED = [
    VALUES.format("('id1', 'val1')"),
    "update {schema}.merged set value = 'val2'",
    """
    merge into {schema}.merged as t using (select * from values ('id1', 'val3'), ('id2', 'val2') as s (id, value)) as s
    on t.id = s.id when matched then update set * when not matched then insert *
    """,
    """
    merge into {schema}.merged as t using (select * from values ('id1', 'val3'), ('id2', null) as s (id, value)) as s
    on t.id = 'id2' and s.id = 'id2' when matched then delete when not matched then insert *
    """,
]
IDENTIFIER_CHANGES = {
    (0, 1): [("id1", "val1", "UPDATE_BEFORE", 1), ("id1", "val2", "UPDATE_AFTER", 1)],
    (1, 2): [
        ("id1", "val2", "UPDATE_BEFORE", 2),
        ("id1", "val3", "UPDATE_AFTER", 2),
        ("id2", "val2", "INSERT", 2),
    ],
    (0, 2): [
        ("id1", "val1", "UPDATE_BEFORE", 1),
        ("id1", "val3", "UPDATE_AFTER", 2),
        ("id2", "val2", "INSERT", 2),
    ],
}
NET_CHANGES = {
    (0, 1): [("id1", "val1", "DELETE", 1), ("id1", "val2", "INSERT", 1)],
    (1, 2): [("id1", "val2", "DELETE", 2), ("id1", "val3", "INSERT", 2), ("id2", "val2", "INSERT", 2)],
    (0, 2): [("id1", "val1", "DELETE", 1), ("id1", "val3", "INSERT", 2), ("id2", "val2", "INSERT", 2)],
    (0, 3): [("id1", "val1", "DELETE", 1), ("id1", "val3", "INSERT", 2), ("id1", "val3", "INSERT", 3)],
}


@pytest.fixture(scope="module")
def published(project: DbtProject) -> DbtProject:
    """The published versions, written in two ways: the feed of an overwrite repeats rows that stay."""
    versions(project, "overwritten", *OVERWRITTEN)
    versions(project, "merged", *MERGED)
    return project


@LANGUAGES
@pytest.mark.parametrize("table", ["overwritten", "merged"])
def test_published_changelogs(published: DbtProject, read: Callable[..., Any], table: str) -> None:
    expected = {pair: Counter(changes) for pair, changes in IDENTIFIER_CHANGES.items()}
    assert read(published, table, expected, ["id"]) == expected
    expected = {pair: Counter(changes) for pair, changes in NET_CHANGES.items()}
    assert read(published, table, expected, None) == expected


# -- every small history, against a reading of the definition that shares nothing with the code

State = tuple[Any, ...]

# Version 0 is the empty table.
RANGES = [(0, 5), (1, 5), (2, 4), (2, 3)]


def net(history: list[State], start: int, end: int) -> Counter[Change]:
    """Each row that a version brings or takes undoes the latest opposite change of the same row that still stands."""
    standing: dict[Any, list[tuple[str, int]]] = {}
    for version in range(start + 1, end + 1):
        before, after = Counter(history[version - 1]), Counter(history[version])
        for kind, opposite, changes in (("DELETE", "INSERT", before - after), ("INSERT", "DELETE", after - before)):
            for value in changes.elements():
                stack = standing.setdefault(value, [])
                if stack and stack[-1][0] == opposite:
                    stack.pop()
                else:
                    stack.append((kind, version))
    return Counter((value, *change) for value, stack in standing.items() for change in stack)


def identified(history: list[State], start: int, end: int) -> Counter[Change]:
    changes = net(history, start, end)
    if len(changes) < 2:
        return changes
    names = {"DELETE": "UPDATE_BEFORE", "INSERT": "UPDATE_AFTER"}
    return Counter((value, names[kind], version) for value, kind, version in changes)


def write_histories(project: DbtProject, table: str, keys: list[tuple[Any, ...]], histories: list[list[State]]) -> None:
    """A table with one group of rows for each history; odd versions rewrite all rows, even ones what changed."""
    name = f"{project.schema}.{table}"
    spark = SparkSession.active()
    ddl = "number int, part string, value string"

    def frame(version: int) -> DataFrame:
        data = [(*key, value) for key, history in zip(keys, histories, strict=True) for value in history[version]]
        return spark.createDataFrame(data, ddl).coalesce(1)

    project.sql(f"create table {name} ({ddl}) using delta {FEED}")
    for version in range(len(histories[0])):
        if version % 2 or not all(len(state) < 2 for history in histories for state in history):
            frame(version).write.insertInto(name, overwrite=True)
        else:
            frame(version).createOrReplaceTempView("wanted")
            spark.sql(f"""
                merge into {name} as t using wanted as s on t.number = s.number and t.part <=> s.part
                when matched and not (t.value <=> s.value) then update set * when not matched then insert *
                when not matched by source then delete
            """)
    assert project.version(table) == len(histories[0])


@LANGUAGES
def test_identifier_changelog_of_every_history(project: DbtProject, read: Callable[..., Any]) -> None:
    histories = [list(states) for states in itertools.product([(), ("a",), (None,)], repeat=5)]
    keys = [(number, None if number % 2 else "p") for number in range(len(histories))]
    table = f"histories_{read.__name__}"
    write_histories(project, table, keys, histories)
    found = read(project, table, RANGES, ["number", "part"])
    for start, end in RANGES:
        expected: Counter[Change] = Counter()
        for key, history in zip(keys, histories, strict=True):
            expected.update({(*key, *change): n for change, n in identified([(), *history], start, end).items()})
        assert found[start, end] == expected


@LANGUAGES
def test_net_changelog_of_many_histories(project: DbtProject, read: Callable[..., Any]) -> None:
    states = list(itertools.product((0, 1, 2), repeat=2))
    multisets = [("a",) * a + (None,) * b for a, b in states]
    chosen = random.Random(3)  # noqa: S311  # the same histories in every run
    histories = [chosen.choices(multisets, k=5) for _ in range(1000)]
    keys = [(number, "p") for number in range(len(histories))]
    table = f"bags_{read.__name__}"
    write_histories(project, table, keys, histories)
    found = read(project, table, RANGES, None)
    for start, end in RANGES:
        expected: Counter[Change] = Counter()
        for key, history in zip(keys, histories, strict=True):
            expected.update({(*key, *change): n for change, n in net([(), *history], start, end).items()})
        assert found[start, end] == expected
