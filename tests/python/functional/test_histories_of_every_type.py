"""Each kind of load finds what changes in a column of each type, and nothing where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import groupby

import pytest

from harness import PROJECT_YML, SEARCH, DbtProject, tuples

# Two values of each type.
TYPES = {
    "tiny": ("1Y", "2Y"),
    "small": ("1S", "2S"),
    "whole": ("1", "2"),
    "large": ("1L", "4294967297L"),
    "single": ("float('0.1')", "float('0.2')"),
    "double": ("1.5D", "double('NaN')"),
    "exact": ("1.10BD", "1.20BD"),
    "precise": ("cast('0.000000000000000001' as decimal(38, 18))", "cast('0.000000000000000002' as decimal(38, 18))"),
    "words": ("'a'", "'a '"),
    "code": ("cast('ab' as varchar(4))", "cast('abcd' as varchar(4))"),
    "bytes": ("X'00FF'", "X'00FE'"),
    "flag": ("true", "false"),
    "day": ("date '1900-01-01'", "date '1900-01-02'"),
    "moment": ("timestamp '2024-01-01 00:00:00.000001Z'", "timestamp '2024-01-01 00:00:00.000002Z'"),
    "local": ("timestamp_ntz '2024-03-31 02:30:00'", "timestamp_ntz '2024-03-31 03:30:00'"),
    "several": ("array(1.10BD, null)", "array(1.10BD)"),
    # XML has names like this one.
    "named": (
        "named_struct('xsi:type', 1.10BD, 'a.b', array('a'))",
        "named_struct('xsi:type', 1.10BD, 'a.b', array('b'))",
    ),
    "mapped": ("map('k', 1.10BD)", "map('k', 1.20BD)"),
}
# Parts of a key: the bits of a number tell which value each has, so that every part is needed.
PARTS = ["exact", "double", "bytes", "moment", "day", "local"]
KEY = [f"key_{name}" for name in PARTS]
# Of the rows, each has another column that changes; but for two, one of which is deleted.
CHANGING = range(1, len(TYPES) + 1)
STEADY, DELETED = 0, len(TYPES) + 1


def of(first: str, second: str, when: str) -> str:
    return f"if({when}, {second}, {first})"


def given(number: int, name: str) -> str:
    """A column that is null, or has its second value, in the row of its number alone."""
    value = of(*TYPES[name], f"id = {number} and state <=> 'b'")
    return f"if(id = {number} and state is null, null, {value}) as {name}"


SELECTED = [f"{of(*TYPES[name], f'getbit(id, {bit}) = 1')} as key_{name}" for bit, name in enumerate(PARTS)]
SELECTED += [given(number, name) for number, name in enumerate(TYPES, start=1)]
ROWS = f"select id, at, _change_type, {', '.join(SELECTED)} from {{{{ target.schema }}}}.events\n"
EXTRACT = f"{ROWS}where _change_type <> 'D'\n"
DDL = "id int, state string, at timestamp, _change_type string"


def shown(number: int, name: str) -> str:
    """Which of its two values a column has in the row of its number."""
    # Spark does not compare maps.
    value, one, other = (f"map_entries({text})" if name == "mapped" else text for text in (name, *TYPES[name]))
    cases = f"when {value} <=> {one} then 'a' when {value} <=> {other} then 'b' when {name} is null then null"
    return f"when {number} then case {cases} else 'neither' end"


COLUMNS = " ".join(shown(number, name) for number, name in enumerate(TYPES, start=1))
SHOWN = f"case id {COLUMNS} else 'a' end"
EXTRACTS = {
    "dim_extract": {},
    "dim_invalidated": {"hard_deletes": "invalidate"},
    "dim_records": {"hard_deletes": "new_record"},
    "dim_clauses": {"merge_plan": "three_clause", "scd2_columns": {"state_hash": "state_hash"}},
}
BATCHES = {
    "dim_increment": {"source_kind": "increment", "change_type": "_change_type"},
    "dim_events": {"source_kind": "changelog"},
}


def day(number: float) -> datetime:
    return datetime(2024, 1, 1) + timedelta(days=number)


def model(more: dict[str, object], rows: str) -> str:
    common = {"materialized": "scd2", "unique_key": KEY, "effective_at": "at"}
    return f"{{{{ config(**{common | more}) }}}}\n{rows}"


def rows_of(number: int) -> list[tuple[int, str | None, datetime, str]]:
    """The rows of each load: first, each changed, each null and one deleted, and the same again."""
    state = ("a", "b", None, None)[number]
    rows = [(id_, state, day(number), "U") for id_ in CHANGING]
    rows.append((STEADY, "a", day(number), "U"))
    if number != 3:
        rows.append((DELETED, "a", day(number), "D" if number == 2 else "U"))
    return rows


LATE = [(id_, "b", day(0.5), "U") for id_ in CHANGING]


def versions(events: list[tuple[int, str | None, datetime, str]]) -> Iterator[tuple]:
    """What a history is: a version for each stretch of equal states, up to the next or a deletion."""
    for id_, rows in groupby(sorted(events, key=lambda event: (event[0], event[2])), key=lambda event: event[0]):
        stretches = [(next(stretch)[2], *key) for key, stretch in groupby(rows, key=lambda event: (event[1], event[3]))]
        ends = [stretch[0] for stretch in stretches[1:]] + [None]
        for (begin, state, kind), end in zip(stretches, ends, strict=True):
            if kind != "D":
                yield id_, state, begin, end


@pytest.fixture(scope="module", params=["", SEARCH], ids=["compared", "searched"])
def project(make_project: Callable[..., DbtProject], request: pytest.FixtureRequest) -> DbtProject:
    files = {f"models/{name}.sql": model(more, EXTRACT) for name, more in EXTRACTS.items()}
    files |= {f"models/{name}.sql": model(more, ROWS) for name, more in BATCHES.items()}
    files["models/copy.sql"] = (
        f"{{{{ config(materialized='scd1', unique_key={KEY}) }}}}\nselect * except (at) from ({ROWS})"
    )
    return make_project({"dbt_project.yml": PROJECT_YML + request.param, **files})


def history(project: DbtProject, name: str) -> list[tuple]:
    query = (
        f"select id, {SHOWN} as state, effective_from, nullif(effective_to, timestamp '9999-12-31')"
        f" from {{schema}}.{name} where not (is_deleted and is_current and {name == 'dim_records'}) order by 1, 3"
    )
    return tuples(project.sql(query))


@pytest.mark.slow
def test_each_load_finds_what_changed(project: DbtProject) -> None:
    events: list[tuple[int, str | None, datetime, str]] = []
    for number in range(4):
        rows = rows_of(number)
        events += rows
        project.load("events", DDL, rows)
        results = project.succeed("run")
        for name in [*EXTRACTS, *BATCHES]:
            assert history(project, name) == list(versions(events)), (number, name)
        live = tuples(project.sql(f"select id, {SHOWN} as state from {{schema}}.copy order by id"))
        assert live == [row[:2] for row in versions(events) if row[3] is None]
    assert {results[name].message for name in ["copy", *EXTRACTS]} == {"UNCHANGED"}

    project.load("events", DDL, LATE)
    project.succeed("run", "--select", *BATCHES)
    for name in BATCHES:
        assert history(project, name) == list(versions(events + LATE)), name
