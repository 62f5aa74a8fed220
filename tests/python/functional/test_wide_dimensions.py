"""Dimensions with many columns, which Spark plans for minutes where a hash stands before its columns."""

from __future__ import annotations

import pytest
from pyspark.sql.functions import lit

from delta_scd2 import apply_changelog, hash_diff
from harness import DbtProject, session, tuples

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
    give(project, 6)
    project.succeed("run")
    expected = [(day, f"day {day}", "x", "y" if day in (4, 5) else None, day == 6) for day in range(1, 7)]
    for name in KINDS:
        rows = project.sql(f"select day(effective_from), a0, a39, added, is_current from {{schema}}.{name} order by 1")
        assert tuples(rows) == expected, name


def test_a_wide_changelog_is_planned_in_seconds(project: DbtProject) -> None:
    project.sql("create schema if not exists {schema}")
    give(project, 1)
    given = session().table(f"{project.schema}.rows").select("id", *NAMES)
    copy = f"{project.schema}.copy"
    given.withColumn("row_hash", hash_diff(given, NAMES)).write.format("delta").saveAsTable(copy)
    changed = given.withColumn("a0", lit("later"))
    changes = changed.withColumn("row_hash", hash_diff(changed, NAMES)).withColumn("_change_type", lit("update"))
    effects = apply_changelog(session(), copy, changes.withColumn("_change_ordinal", lit(1)), "id")
    assert effects == {"inserted": 0, "updated": 1, "deleted": 0}
    assert tuples(project.sql("select id, a0, a39 from {schema}.copy")) == [(1, "later", "x")]
