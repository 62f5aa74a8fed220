"""Dimensions with many columns, which Spark plans for minutes where a hash stands before its columns."""

from __future__ import annotations

import pytest

from harness import DbtProject, tuples

NAMES = [f"a{number}" for number in range(40)]
KINDS = {
    "dim_extracts": {},
    "dim_overwritten": {"overwrite_columns": NAMES[20:], "inferred_member": "is_inferred"},
    "dim_events": {"source_kind": "changelog", "change_type": "kind", "overwrite_columns": NAMES[20:]},
}


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    names = {"surrogate_key": "sk", "state_hash": "state_hash"}
    common = {"materialized": "scd2", "unique_key": "id", "effective_at": "at", "scd2_columns": names}
    return make_project(
        {
            f"models/{name}.sql": f"{{{{ config(**{common | config}) }}}}\nselect * from {{{{ target.schema }}}}.rows"
            for name, config in KINDS.items()
        }
    )


def give(project: DbtProject, *days: int, **more: str) -> None:
    """One row a day, which changes in its first column every day."""
    values = ", ".join(f"'x' as {name}" for name in NAMES[1:])
    extra = "".join(f", {value} as {name}" for name, value in more.items())
    rows = [
        f"select 1 as id, timestamp '2024-01-{day:02}' as at, 'insert' as kind, false as is_inferred,"
        f" 'day {day}' as a0, {values}{extra}"
        for day in days
    ]
    project.sql("create schema if not exists {schema}")
    project.sql("create or replace table {schema}.rows using delta as " + " union all ".join(rows))


def test_a_wide_dimension_is_planned_in_seconds(project: DbtProject) -> None:
    give(project, 1, 2)
    project.succeed("run")
    give(project, 3)
    project.succeed("run")
    give(project, 4, 5, added="'y'")
    project.succeed("run")
    expected = [(day, f"day {day}", "x", "y" if day > 3 else None, day == 5) for day in range(1, 6)]
    for name in KINDS:
        rows = project.sql(f"select day(effective_from), a0, a39, added, is_current from {{schema}}.{name} order by 1")
        assert tuples(rows) == expected, name
