"""A run that is overtaken by another one, between its reading and its MERGE, ends clean."""

from __future__ import annotations

from datetime import datetime

import pytest
from dbt.adapters.spark.session import Cursor

from harness import DbtProject, session, tuples

MODEL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='extracted_at', surrogate_key='sequence',
    scd2_columns={'surrogate_key': 'sk'}, <options>
) }}
select * from {{ target.schema }}.extracts
"""
MODELS = {
    "dim_staged": "merge_plan='staged', hard_deletes='new_record'",
    "dim_three_clause": "merge_plan='three_clause', max_delete_fraction=1",
    "dim_increment": "source_kind='increment'",
}
TESTS = "[one_current_row_per_key, no_overlapping_validity, valid_intervals, versions_differ, deleted_rows_closed]"
SCHEMA = "version: 2\nmodels:\n" + "".join(f"  - {{name: {name}, data_tests: {TESTS}}}\n" for name in MODELS)
DDL = "id int, value string, extracted_at timestamp"
EXTRACTS = [
    [(1, "a"), (2, "a"), (3, "a")],
    [(1, "b"), (2, "a"), (4, "b")],
    [(1, "c"), (2, "a"), (4, "c"), (5, "c")],
]


def rows(number: int) -> list[tuple]:
    return [(*row, datetime(2024, 1, number + 1)) for row in EXTRACTS[number]]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {f"models/{name}.sql": MODEL.replace("<options>", options) for name, options in MODELS.items()}
    return make_project({**files, "models/schema.yml": SCHEMA})


@pytest.mark.parametrize("name", MODELS)
def test_the_second_of_two_runs_ends_clean(project: DbtProject, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = []
    for number in (0, 1):
        project.load("extracts", DDL, rows(number))
        project.succeed("run", "--select", name)
        versions.append(project.version(name))
    project.sql(f"restore table {{schema}}.{name} to version as of {versions[0]}")

    execute = Cursor.execute

    def overtaken(cursor: Cursor, sql: str, *parameters: object) -> None:
        if f"merge into {project.schema}.{name} " in sql:
            # The other run commits what it made of the second extract.
            session().sql(f"restore table {project.schema}.{name} to version as of {versions[1]}")
        execute(cursor, sql, *parameters)

    project.load("extracts", DDL, rows(2))
    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", overtaken)
        message = project.fail("run", "--select", name)
    assert f"{name}: {project.schema}.{name} changed while this run was reading it. Nothing was written." in message
    history = project.sql(f"describe history {{schema}}.{name} limit 1")
    assert history[0].operation == "RESTORE"

    project.succeed("run", "--select", name)
    project.succeed("test", "--select", name)
    once = project.sql(f"select id, value, effective_from, is_current, is_deleted, sk from {{schema}}.{name}")
    project.sql(f"drop table {{schema}}.{name}")
    for number in (0, 1, 2):
        project.load("extracts", DDL, rows(number))
        project.succeed("run", "--select", name)
    again = project.sql(f"select id, value, effective_from, is_current, is_deleted, sk from {{schema}}.{name}")
    assert sorted(tuples(once)) == sorted(tuples(again))
