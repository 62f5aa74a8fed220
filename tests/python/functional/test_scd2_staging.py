"""What a run lays down between its steps: one evaluation of the model, and nothing left behind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from harness import DbtProject, tuples

MODEL = """
{{ config(materialized='scd2', unique_key='id', scd2_columns={'surrogate_key': 'sk'}, <options>) }}
with imported as (
    select * from {{ target.schema }}.extract
)

select * from imported
"""
MODELS = {
    "dim_staged": "merge_plan='staged'",
    "dim_three_clause": "merge_plan='three_clause'",
    "dim_increment": "source_kind='increment', effective_at='changed_at'",
}
COPY = """
{{ config(materialized='scd1', unique_key='id') }}
with imported as (
    select * from {{ target.schema }}.changelog
)

select * from imported
"""
DDL = "id int, value string, changed_at timestamp"


def rows(day: int, *pairs: tuple[int, str]) -> list[tuple]:
    return [(*pair, datetime(2024, 1, day)) for pair in pairs]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {f"models/{name}.sql": MODEL.replace("<options>", options) for name, options in MODELS.items()}
    return make_project({**files, "models/copy.sql": COPY})


def staged(project: DbtProject, name: str = "*") -> list[str]:
    return [row.tableName for row in project.sql(f"show tables in {{schema}} like '{name}__scd2_*'")]


@pytest.mark.parametrize("name", MODELS)
def test_rows_that_come_after_the_check_wait_for_the_next_run(
    project: DbtProject, name: str, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.load("extract", DDL, rows(1, (1, "a"), (2, "a")))
    project.succeed("run", "--select", name)
    project.load("extract", DDL, rows(2, (1, "b"), (2, "a")))
    before_statement(
        f"create table {project.schema}.{name}__scd2_changes",
        f"insert into {project.schema}.extract values (3, 'late', timestamp '2024-01-02')",
    )
    project.succeed("run", "--select", name)
    monkeypatch.undo()
    assert len(project.sql("select * from {schema}.extract where id = 3")) == 1
    current = f"select id, value from {{schema}}.{name} where is_current order by id"
    assert tuples(project.sql(current)) == [(1, "b"), (2, "a")]

    project.succeed("run", "--select", name)
    assert tuples(project.sql(current)) == [(1, "b"), (2, "a"), (3, "late")]
    assert staged(project) == []


def test_rows_come_back_as_they_were_whatever_pages_of_parquet_have(project: DbtProject, spark: SparkSession) -> None:
    hadoop = spark._jsc.hadoopConfiguration()
    project.load("extract", DDL, rows(11, (1, "first"), (2, "second")))
    project.succeed("run", "--select", "dim_staged", "--full-refresh", "--vars", "{scd2_discard_history: true}")
    project.load("extract", DDL, rows(12, (1, "changed"), (2, "second"), (3, "third")))
    hadoop.set("parquet.writer.version", "v2")
    spark.conf.set("spark.sql.parquet.compression.codec", "none")
    try:
        project.succeed("run", "--select", "dim_staged")
    finally:
        spark.conf.unset("spark.sql.parquet.compression.codec")
        hadoop.unset("parquet.writer.version")
    found = project.sql("select id, value from {schema}.dim_staged where is_current order by id")
    assert tuples(found) == [(1, "changed"), (2, "second"), (3, "third")]


def test_changes_that_come_after_the_check_wait_for_the_next_run_of_a_copy(
    project: DbtProject, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    ddl = "id int, value string, _change_type string"
    project.load("changelog", ddl, [(1, "a", "insert")])
    project.succeed("run", "--select", "copy")
    project.load("changelog", ddl, [(2, "b", "insert")])
    before_statement(
        f"merge into {project.schema}.copy ", f"insert into {project.schema}.changelog values (3, 'late', 'insert')"
    )
    project.succeed("run", "--select", "copy")
    monkeypatch.undo()
    assert len(project.sql("select * from {schema}.changelog")) == 2
    assert tuples(project.sql("select id, value from {schema}.copy order by id")) == [(1, "a"), (2, "b")]
    assert staged(project) == []


def test_a_refused_run_leaves_nothing_behind(project: DbtProject) -> None:
    project.load("extract", DDL, rows(3, (1, "b"), (1, "c")))
    assert "too many for their business keys" in project.fail("run", "--select", "dim_staged")
    project.load("extract", DDL, rows(3, (9, "z")))
    assert "max_delete_fraction" in project.fail("run", "--select", "dim_staged")
    assert staged(project) == []


def test_only_what_is_older_than_a_day_is_taken_for_left_behind(project: DbtProject) -> None:
    now = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
    old, young = "dim_staged__scd2_rows_20240101000000_ab12", f"dim_staged__scd2_rows_{now}_cd34"
    for table in (old, young):
        project.sql(f"create table {{schema}}.{table} using parquet as select 1 as id")
    project.load("extract", DDL, rows(4, (1, "b"), (2, "a"), (3, "late")))
    project.succeed("run", "--select", "dim_staged")
    assert staged(project) == [young]


def test_what_a_killed_run_left_goes_after_a_day_and_nothing_else(project: DbtProject) -> None:
    project.load("extract", DDL, rows(1, (1, "a")))
    ours = ["rows_20200101000000_0a1f", "known_events_20200101000000_0a1f"]
    theirs = ["2020_backup", "backup__old", "rows_20990101000000_0a1f"]
    for name in [*ours, *theirs]:
        project.sql(f"create table {{schema}}.dim_left__scd2_{name} using parquet as select 1 as id")
    project.write({"models/dim_left.sql": MODEL.replace("<options>", "")})
    project.succeed("run", "--select", "dim_left")
    assert sorted(staged(project, "dim_left")) == sorted(f"dim_left__scd2_{name}" for name in theirs)
    for name in theirs:
        project.sql(f"drop table {{schema}}.dim_left__scd2_{name}")
