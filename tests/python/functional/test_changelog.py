"""Changelogs from Delta's change data feed and from other sources, in SQL and Python."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import SparkRuntimeException
from pyspark.sql import DataFrame, SparkSession

from delta_scd2 import changelog, flatten_changelog, latest_changes
from harness import DbtProject, tuples

FEED = "tblproperties (delta.enableChangeDataFeed = true)"

KINDS = {
    "upsert": ["insert", "INSERT", "Update", "upsert", "update_postimage", "UPDATE_AFTER", "I", "u", "c", "r"],
    "delete": ["delete", "DELETE", "D", "d"],
    "before": ["update_preimage", "UPDATE_BEFORE"],
    None: ["truncate", "t", "", None],
}

KIND_MODEL = """
{{ config(materialized='table') }}
select word, {{ delta_scd2.change_kind_sql('word') }} as kind from values %s as words (word)
"""

# Every range of one table, as one model.
RANGES_MODEL = """
{{{{ config(materialized='table') }}}}
{{% for from_version, to_version in {ranges} %}}
select {{{{ loop.index0 }}}} as range_number, *
from ({{{{ delta_scd2.changelog(
    target.schema ~ '.{table}', keys={keys}, from_version=from_version, to_version=to_version
) }}}})
{{{{ 'union all' if not loop.last }}}}
{{% endfor %}}
"""

MODEL = (
    "{{{{ config(materialized='table') }}}}\n{{{{ delta_scd2.changelog(target.schema ~ '.{table}', {arguments}) }}}}\n"
)

Change = tuple[Any, ...]
Range = tuple[int | None, int | None]


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
    project: DbtProject, table: str, ranges: Iterable[Range], keys: list[str] | None
) -> dict[Range, Counter[Change]]:
    model = f"{table}_{'net' if keys is None else 'keyed'}"
    ranges = list(ranges)
    project.write({f"models/{model}.sql": RANGES_MODEL.format(table=table, keys=keys, ranges=ranges)})
    project.succeed("run", "--select", model)
    found: dict[Range, Counter[Change]] = {pair: Counter() for pair in ranges}
    for number, *change in tuples(project.sql(f"select * from {{schema}}.{model}")):
        found[ranges[number]][tuple(change)] += 1
    return found


def in_python(
    project: DbtProject, table: str, ranges: Iterable[Range], keys: list[str] | None
) -> dict[Range, Counter[Change]]:
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


# The histories below are read in both languages from one table that is overwritten and merged into.
@pytest.mark.parametrize(("read", "table"), [(in_sql, "overwritten"), (in_python, "merged")], ids=["sql", "python"])
def test_published_changelogs(published: DbtProject, read: Callable[..., Any], table: str) -> None:
    expected = {pair: Counter(changes) for pair, changes in IDENTIFIER_CHANGES.items()}
    assert read(published, table, expected, ["id"]) == expected
    expected = {pair: Counter(changes) for pair, changes in NET_CHANGES.items()}
    assert read(published, table, expected, None) == expected


# -- every small history, against a reading of the definition that shares nothing with the code

State = tuple[Any, ...]
# By key.
Histories = dict[tuple[Any, ...], list[State]]

# Version 0 is the empty table.
RANGES = [(0, 5), (2, 4)]


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


def write_histories(project: DbtProject, table: str, histories: Histories) -> None:
    """A table with one group of rows for each history; odd versions rewrite all rows, even ones what changed."""
    name = f"{project.schema}.{table}"
    spark = SparkSession.active()
    states = list(zip(*histories.values(), strict=True))
    ddl = "number int, part string, value string"

    def frame(version: int) -> DataFrame:
        data = [(*key, value) for key, history in histories.items() for value in history[version]]
        return spark.createDataFrame(data, ddl).coalesce(1)

    project.sql(f"create table {name} ({ddl}) using delta {FEED}")
    for version in range(len(states)):
        if version % 2 or not all(len(state) < 2 for version_states in states for state in version_states):
            frame(version).write.insertInto(name, overwrite=True)
        else:
            frame(version).createOrReplaceTempView("wanted")
            spark.sql(f"""
                merge into {name} as t using wanted as s on t.number = s.number and t.part <=> s.part
                when matched and not (t.value <=> s.value) then update set * when not matched then insert *
                when not matched by source then delete
            """)
    assert project.version(table) == len(states)


@pytest.fixture(scope="module")
def histories(project: DbtProject) -> Histories:
    """Every history of a key, in the table `histories`."""
    every = itertools.product([(), ("a",), (None,)], repeat=5)
    made = {(number, None if number % 2 else "p"): list(states) for number, states in enumerate(every)}
    write_histories(project, "histories", made)
    return made


@pytest.fixture(scope="module")
def bags(project: DbtProject) -> Histories:
    """Histories of rows that repeat, in the table `bags`."""
    multisets = [("a",) * a + (None,) * b for a, b in itertools.product((0, 1, 2), repeat=2)]
    chosen = random.Random(3)
    made = {(number, "p"): chosen.choices(multisets, k=5) for number in range(1000)}
    write_histories(project, "bags", made)
    return made


@LANGUAGES
def test_identifier_changelog_of_every_history(
    project: DbtProject, histories: Histories, read: Callable[..., Any]
) -> None:
    found = read(project, "histories", RANGES, ["number", "part"])
    for start, end in RANGES:
        expected: Counter[Change] = Counter()
        for key, history in histories.items():
            expected.update({(*key, *change): n for change, n in identified([(), *history], start, end).items()})
        assert found[start, end] == expected


@LANGUAGES
def test_net_changelog_of_many_histories(project: DbtProject, bags: Histories, read: Callable[..., Any]) -> None:
    found = read(project, "bags", RANGES, None)
    for start, end in RANGES:
        expected: Counter[Change] = Counter()
        for key, history in bags.items():
            expected.update({(*key, *change): n for change, n in net([(), *history], start, end).items()})
        assert found[start, end] == expected


# -- what the range may span


@LANGUAGES
def test_keys_with_the_names_of_what_is_counted(project: DbtProject, read: Callable[..., Any]) -> None:
    table = f"named_{read.__name__}"
    keys = ["version", "change", "row_count", "count"]
    versions(
        project,
        table,
        "select 1 as version, 1 as change, 1 as row_count, 1 as count, 'a' as value",
        f"update {{schema}}.{table} set value = 'b'",
    )
    changes = Counter([(1, 1, 1, 1, "a", "UPDATE_BEFORE", 1), (1, 1, 1, 1, "b", "UPDATE_AFTER", 1)])
    assert read(project, table, [(0, 1)], keys) == {(0, 1): changes}
    project.sql(f"insert into {{schema}}.{table} values (1, 1, 1, 1, 'c')")
    if read is in_python:
        with pytest.raises(ValueError, match="version 1, change 1, row_count 1, count 1"):
            read(project, table, [(0, 2)], keys)
    else:
        model = f"{{{{ delta_scd2.changelog(target.schema ~ '.{table}', {keys}, from_version=0, to_version=2) }}}}"
        project.write({f"models/{table}_twice.sql": model})
        assert "version 1, change 1, row_count 1, count 1" in project.fail("run", "--select", f"{table}_twice")


def test_a_range_from_a_date(published: DbtProject) -> None:
    start = "modules.datetime.date(2024, 1, 31)"
    call = f"delta_scd2.changelog(target.schema ~ '.merged', from_timestamp={start}, to_version=0)"
    published.write({"models/from_a_date.sql": f"{{{{ config(materialized='table') }}}} {{{{ {call} }}}}"})
    published.succeed("run", "--select", "from_a_date")
    assert tuples(published.sql("select * from {schema}.from_a_date")) == [("id1", "val1", "INSERT", 0)]


@LANGUAGES
def test_a_range_by_time_is_the_range_of_versions_of_that_time(
    published: DbtProject, read: Callable[..., Any], spark: SparkSession
) -> None:
    history = spark.sql(f"describe history {published.schema}.merged").collect()
    times = {row.version: row.timestamp.astimezone(UTC) for row in history}
    between = times[2] - timedelta(microseconds=1)
    eastern = between.astimezone(timezone(timedelta(hours=-5))).isoformat()
    by_time = {"from_timestamp": f"{times[0]:%Y-%m-%d %H:%M:%S.%f}", "to_timestamp": eastern}
    if read is in_python:
        found = rows(changelog(spark, f"{published.schema}.merged", "id", **by_time))
    else:
        call = f"delta_scd2.changelog(target.schema ~ '.merged', 'id', from_timestamp='{by_time['from_timestamp']}', "
        call += f"to_timestamp='{eastern}')"
        published.write({"models/by_time.sql": f"{{{{ config(materialized='table') }}}} {{{{ {call} }}}}"})
        published.succeed("run", "--select", "by_time")
        found = rows(spark.table(f"{published.schema}.by_time"))
    assert found == Counter(IDENTIFIER_CHANGES[0, 1])


@LANGUAGES
def test_a_range_may_begin_with_the_table_and_may_be_empty(published: DbtProject, read: Callable[..., Any]) -> None:
    ranges = [(None, 0), (None, 1), (3, 3), (3, None)]
    found = read(published, "merged", ranges, None)
    assert found == {
        (None, 0): Counter([("id1", "val1", "INSERT", 0)]),
        (None, 1): Counter([("id1", "val2", "INSERT", 1)]),
        (3, 3): Counter(),
        (3, None): Counter(),
    }


@LANGUAGES
def test_columns_added_inside_the_range(project: DbtProject, read: Callable[..., Any]) -> None:
    table = f"widened_{read.__name__}"
    versions(
        project,
        table,
        "select 1 as id, map('a', 1, 'b', 2) as `odd``name`",
        f"insert into {{schema}}.{table} values (2, map('a', 1))",
        f"alter table {{schema}}.{table} add column added int",
        f"insert overwrite {{schema}}.{table} values (1, map('b', 2, 'a', 1), null), (2, map('a', 1), 7), (3, null, 8)",
    )
    spark = SparkSession.active()
    if read is in_python:
        found = changelog(spark, f"{project.schema}.{table}", "id", from_version=0)
    else:
        project.write({"models/widened.sql": MODEL.format(table=table, arguments="'id', from_version=0")})
        project.succeed("run", "--select", "widened")
        found = spark.table(f"{project.schema}.widened")
    # The first row is as it was: the order of a map is no difference.
    assert tuples(found.select("id", "added", "_change_type", "_change_ordinal").orderBy("id").collect()) == [
        (2, 7, "INSERT", 3),
        (3, 8, "INSERT", 3),
    ]


@LANGUAGES
def test_columns_added_after_the_range(project: DbtProject, read: Callable[..., Any]) -> None:
    # Delta reads the feed of a table with column mapping with the columns of the last version in the range.
    table = f"mapped_{read.__name__}"
    mapped = FEED.replace("(", "(delta.columnMapping.mode = 'name', ", 1)
    project.sql(f"create table {{schema}}.{table} (id int) using delta {mapped}")
    project.sql(f"insert into {{schema}}.{table} values (1)")
    project.sql(f"alter table {{schema}}.{table} add columns (later struct<part: int>)")
    project.sql(f"insert into {{schema}}.{table} values (2, named_struct('part', 2))")
    spark = SparkSession.active()
    if read is in_python:
        found = changelog(spark, f"{project.schema}.{table}", "id", from_version=0, to_version=1)
    else:
        arguments = "'id', from_version=0, to_version=1"
        project.write({"models/mapped.sql": MODEL.format(table=table, arguments=arguments)})
        project.succeed("run", "--select", "mapped")
        found = spark.table(f"{project.schema}.mapped")
    assert tuples(found.collect()) == [(1, None, "INSERT", 1)]


# -- errors

ERRORS: dict[str, tuple[str, dict[str, Any], str]] = {
    # name: (table, arguments, part of the message)
    "duplicates": (
        "merged",
        {"keys": ["id"], "from_version": 0, "to_version": 3},
        "Duplicate rows found for identifier columns ['id'] in changelog view: id id1.",
    ),
    "duplicates_appear": ("merged", {"keys": ["id"], "from_version": 2}, "Duplicate rows found"),
    "duplicates_at_the_start": ("repaired", {"keys": ["id", "v"], "from_version": 0}, "id 1, v null."),
    "never_on": ("silent", {}, "set tblproperties (delta.enableChangeDataFeed = true)`"),
    "on_too_late": ("late", {"from_version": 0}, "did not record its changes at version 1"),
    "vacuumed": ("vacuumed", {"from_version": 0}, "are no longer retained: files of versions 1 to"),
    "vacuumed_keys": ("vacuumed", {"keys": "id", "from_version": 0}, "are no longer retained: files of versions 1 to"),
    "cleaned": ("cleaned", {"from_version": 0}, "no longer retained: versions from 1 on are no longer in its log"),
    "cleaned_time": (
        "cleaned",
        {"from_timestamp": "2001-01-01"},
        "the versions of 2001-01-01 are no longer in its log",
    ),
    "too_new": ("merged", {"from_version": 1, "to_version": 9}, "is asked for version 9, but the newest is 3"),
    "backwards": ("merged", {"from_version": 2, "to_version": 1}, "would start from version 2, after its end 1"),
    "too_early": ("merged", {"to_timestamp": "2001-01-01 00:00"}, "before the table existed"),
    "no_time": ("merged", {"from_timestamp": "soon"}, "is asked for the time `soon`"),
    "negative": ("merged", {"from_version": -1}, "is asked for version `-1`"),
    "no_number": ("merged", {"from_version": "two"}, "is asked for version `two`"),
    "both": ("merged", {"from_version": 1, "from_timestamp": "2001-01-01"}, "both a version and a timestamp"),
    "unknown_key": ("merged", {"keys": ["idd"]}, "has the key `idd`, which is not a column"),
    "key_of_maps": (
        "of_maps",
        {"keys": ["id", "tags"]},
        "has the key `tags` of type array<map<string,int>>, and maps cannot be compared",
    ),
    "aged": ("aged", {"from_version": 0}, "since version 1 are older than its `delta.deletedFileRetentionDuration`"),
    "view": ("of_aged", {}, "is a view, so it has no change data feed"),
    "reserved": ("reserved", {}, "has a column `_change_mark`"),
    "variant": (
        "variant",
        {},
        "has the column `v` of type array<variant>, of which Spark does not tell two values apart",
    ),
    "renamed": ("renamed", {"from_version": 0}, "were renamed, dropped or retyped since version 1"),
    "renamed_later": ("renamed", {"from_version": 1, "to_version": 2}, "were renamed, dropped or retyped since"),
}


@pytest.fixture(scope="module")
def broken(published: DbtProject, spark: SparkSession) -> DbtProject:
    project = published
    create = f"create table {{schema}}.{{}} using delta {FEED} as select 1 as id, 'a' as v"
    versions(
        project,
        "repaired",
        "select * from values (1, null), (1, null), (2, 'x') as t (id, v)",
        "delete from {schema}.repaired where id = 2",
        "insert overwrite {schema}.repaired values (1, null)",
    )
    project.sql("create table {schema}.silent using delta as select 1 as id")
    project.sql("create table {schema}.late using delta as select 1 as id")
    project.sql("insert into {schema}.late values (2)")
    project.sql("alter table {schema}.late set tblproperties (delta.enableChangeDataFeed = true)")
    project.sql(create.replace("{}", "vacuumed"))
    project.sql("update {schema}.vacuumed set v = 'b'")
    # The second setting saves a minute of empty tasks.
    settings = {
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    project.sql("vacuum {schema}.vacuumed retain 0 hours")
    for name in settings:
        spark.conf.unset(name)
    project.sql(create.replace("{}", "cleaned"))
    project.sql("alter table {schema}.cleaned set tblproperties (delta.checkpointInterval = 2)")
    for number in range(4):
        project.sql(f"insert into {{schema}}.cleaned values ({number}, 'b')")
    # What Delta does to the log once its retention is over.
    log = Path(project.sql("describe detail {schema}.cleaned")[0].location.removeprefix("file:")) / "_delta_log"
    for version in (0, 1, 2):
        for file in [*log.glob(f"{version:020}.*"), *log.glob(f".{version:020}.*")]:
            file.unlink()
    for name in ("aged", "readable"):
        project.sql(create.replace("{}", name))
        project.sql(f"update {{schema}}.{name} set v = 'b'")
        project.age(name, datetime.now(UTC) - timedelta(days=8))
        project.sql(f"insert into {{schema}}.{name} values (2, 'b')")
    project.sql("create view {schema}.of_aged as select * from {schema}.aged")
    project.sql("create table {schema}.of_maps (id int, tags array<map<string, int>>) using delta " + FEED)
    project.sql("create table {schema}.reserved (id int, _change_mark int) using delta " + FEED)
    project.sql("create table {schema}.variant (id int, v array<variant>) using delta " + FEED)
    project.sql(create.replace("{}", "renamed"))
    project.sql("alter table {schema}.renamed set tblproperties (delta.columnMapping.mode = 'name')")
    project.sql("insert into {schema}.renamed values (2, 'b')")
    project.sql("alter table {schema}.renamed rename column v to w")
    return project


def test_errors_of_the_macro(broken: DbtProject) -> None:
    for name, (table, arguments, _) in ERRORS.items():
        text = ", ".join(f"{argument}={value!r}" for argument, value in arguments.items())
        broken.write({f"models/bad_{name}.sql": MODEL.format(table=table, arguments=text)})
    result = broken.dbt("run", "--select", "bad_*")
    messages = {node.node.name: node.message for node in result.result.results}
    for name, (_, _, part) in ERRORS.items():
        message = messages[f"bad_{name}"]
        assert part in message
        assert "Remedy: " in message
        assert "\tat org.apache" not in message
    assert not any(relation.startswith("bad_") for relation in broken.relations())


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_the_function(broken: DbtProject, spark: SparkSession, name: str) -> None:
    table, arguments, part = ERRORS[name]
    with pytest.raises(ValueError, match=re.escape(part)):
        changelog(spark, f"{broken.schema}.{table}", **arguments)


def test_changes_that_seem_too_old_can_be_made_readable(broken: DbtProject, spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="Remedy: raise that, as with `alter table") as raised:
        changelog(spark, f"{broken.schema}.readable", from_version=0)
    remedy = re.search(r"`(alter table .*?)`, which", str(raised.value))
    assert remedy is not None
    spark.sql(remedy[1])
    found = changelog(spark, f"{broken.schema}.readable", from_version=0)
    assert sorted((row.id, row.v, row["_change_type"]) for row in found.collect()) == [
        (1, "a", "DELETE"), (1, "b", "INSERT"), (2, "b", "INSERT"),
    ]  # fmt: skip


# -- changelogs of other origin

ENVELOPES = """
select * from values
    ('r', null, struct(1 as id, 'a' as name), 10),
    ('c', null, struct(2 as id, 'b' as name), 11),
    ('u', struct(1 as id, 'a' as name), struct(1 as id, 'c' as name), 12),
    ('c', null, struct(null as id, null as name), 12),
    ('d', struct(2 as id, 'b' as name), null, 13)
as events (op, before, after, ts_ms)
"""
FLAT = [
    (1, "a", "INSERT", 10),
    (2, "b", "INSERT", 11),
    (1, "c", "UPDATE_AFTER", 12),
    (None, None, "INSERT", 12),
    (2, "b", "DELETE", 13),
]


# An update of key 1 to key 3, one that leaves its key alone, and one that takes a key after its insertion.
MOVED = """(select * from values
    (1, 'a', 'update_preimage', 5), (3, 'a', 'update_postimage', 5),
    (2, 'b', 'update_preimage', 5), (2, 'c', 'update_postimage', 5),
    (4, 'x', 'insert', 4), (4, 'x', 'update_preimage', 6)
as moved (id, name, _change_type, _commit_version))"""
SETTLED = [
    (1, "a", "DELETE", 5),
    (2, "c", "update_postimage", 5),
    (3, "a", "update_postimage", 5),
    (4, "x", "DELETE", 6),
]


def test_an_update_that_changes_the_key_deletes_the_old_one(project: DbtProject, spark: SparkSession) -> None:
    latest = f"{{{{ delta_scd2.latest_changes(\"{MOVED}\", 'id', change_ordinal='_commit_version') }}}}"
    project.write({"models/moved.sql": "{{ config(materialized='table') }}\n" + latest})
    project.succeed("run", "--select", "moved")
    in_python = latest_changes(spark.sql(f"select * from {MOVED}"), "id", change_ordinal="_commit_version")
    for found in (spark.table(f"{project.schema}.moved"), in_python):
        assert rows(found.select("id", "name", "_change_type", "_commit_version")) == Counter(SETTLED)


def test_mistakes_in_the_arguments_of_latest_changes(project: DbtProject, spark: SparkSession) -> None:
    calls = {
        "keyless": ("keys=[]", "`keys` is `[]`, expected at least one column"),
        "of_no_text": ("'id', unavailable_columns='name', unavailable_value=0", "`unavailable_value` is `0`, expected"),
        "of_nothing": ("'id', unavailable_columns='name', unavailable_value=''", "`unavailable_value` is ``, expected"),
    }
    for name, (arguments, _) in calls.items():
        latest = f"{{{{ delta_scd2.latest_changes('no_table', {arguments}) }}}}"
        project.write({f"models/latest_{name}.sql": "{{ config(materialized='table') }}\n" + latest})
    results = project.dbt("run", "--select", "latest_*").result.results
    messages = {result.node.name.removeprefix("latest_"): str(result.message) for result in results}
    for name, (_, message) in calls.items():
        assert message in messages[name]
    changes = spark.sql("select 1 as id, 'a' as name, 'insert' as _change_type, 1L as _change_ordinal")
    with pytest.raises(ValueError, match="`unavailable_value` is ``, expected a text"):
        latest_changes(changes, "id", unavailable_columns="name", unavailable_value="")
    with pytest.raises(ValueError, match=r"The changelog has no column no\. Its columns are: id, name, "):
        latest_changes(changes, "no")
    with pytest.raises(ValueError, match=r"The table has no column id\. Its columns are: no\."):
        latest_changes(changes, "id", table=spark.sql("select 1 as no"))


@pytest.mark.parametrize("key", ["X'00'", "array(1)", "struct(1)"])
def test_maps_whose_keys_are_not_written_as_text_are_refused(
    project: DbtProject, spark: SparkSession, key: str
) -> None:
    changes = f"(select 1 as id, array(map({key}, 'a')) as m, 'insert' as _change_type, 1L as _commit_version)"
    latest = f"{{{{ delta_scd2.latest_changes(\"{changes}\", 'id', change_ordinal='_commit_version') }}}}"
    project.write({"models/by_map.sql": "{{ config(materialized='table') }}\n" + latest})
    message = "the changes have a map whose keys are bytes, arrays or structs"
    assert f"by_map: {message}" in project.fail("run", "--select", "by_map")
    with pytest.raises(ValueError, match=message):
        latest_changes(spark.sql(f"select * from {changes}"), "id", change_ordinal="_commit_version")


def test_events_that_carry_both_images(project: DbtProject, spark: SparkSession) -> None:
    config = "{{ config(materialized='table') }}\n"
    flat = "{{ delta_scd2.flatten_changelog('(' ~ events ~ ')', ordinal='ts_ms', keys='id') }}"
    project.write(
        {
            "models/flat.sql": f"{config}{{% set events %}}{ENVELOPES}{{% endset %}}\n{flat}",
            "models/newest.sql": config + "{{ delta_scd2.latest_changes(ref('flat'), 'id') }}",
            "models/untold.sql": config
            + "{{ delta_scd2.flatten_changelog(\"(select 'r' as op, null as before, named_struct('id', 1) as after,"
            " 1 as ts_ms union all select 'd', null, null, 2)\", ordinal='ts_ms', keys=[]) }}",
            "models/unknown.sql": config
            + "{{ delta_scd2.flatten_changelog(\"(select 'm' as op, null as before, struct(1 as id) as after)\","
            " ordinal='1', keys=[]) }}",
            "models/keyless.sql": config + flat.replace("'(' ~ events ~ ')'", "ref('flat')").replace(", keys='id'", ""),
            "models/unordered.sql": config + "{{ delta_scd2.flatten_changelog(ref('flat')) }}",
            "models/listed.sql": config
            + "{{ delta_scd2.flatten_changelog(ref('flat'), ordinal='ts_ms', keys='id', columns=['at']) }}",
        }
    )
    project.succeed("run", "--select", "flat", "newest")
    events = flatten_changelog(spark.sql(ENVELOPES), ordinal="ts_ms", keys="id")
    newest = [change for change in FLAT if change[3] > 11]
    for found in (spark.table(f"{project.schema}.flat"), events):
        assert rows(found) == Counter(FLAT)
    for found in (spark.table(f"{project.schema}.newest"), latest_changes(events, "id")):
        assert rows(found.select("id", "name", "_change_type", "_change_ordinal")) == Counter(newest)
    assert "a changelog event of type d has no row to apply" in project.fail("run", "--select", "untold")
    assert "a changelog event of type m has no row to apply" in project.fail("run", "--select", "unknown")
    assert "name what tells the order of the events of a key" in project.fail("run", "--select", "unordered")
    assert "does not know which fields identify a row" in project.fail("run", "--select", "keyless")
    assert "`columns` is `['at']`, expected a mapping of names" in project.fail("run", "--select", "listed")
    unknown = spark.sql("select 'm' as op, null as before, struct(1 as id) as after")
    message = flatten_changelog(unknown, ordinal="1", keys=[])
    with pytest.raises(SparkRuntimeException, match="event of type m has no row to apply"):
        message.collect()


def test_a_project_compiles_before_its_tables_are_there(make_project) -> None:
    project = make_project({
        "models/copy.sql": "{{ config(materialized='scd1', unique_key='id') }}\n"
        "{{ delta_scd2.changelog(ref('fed'), keys='id') }}",
        "seeds/fed.csv": "id\n1\n",
    })  # fmt: skip
    project.succeed("compile")
    assert "fed" in project.fail("run", "--select", "copy")


def test_the_latest_change_of_a_row_that_one_version_takes_and_brings(published: DbtProject) -> None:
    spark = SparkSession.active()
    name = f"{published.schema}.merged"
    net_changes = changelog(spark, name, from_version=0, to_version=1)
    assert rows(latest_changes(net_changes, "id")) == Counter([("id1", "val2", "INSERT", 1)])
