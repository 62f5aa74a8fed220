"""What a run lays down between its steps: one evaluation of the model, and nothing left behind."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from dbt.adapters.spark import SparkAdapter
from pyspark.sql import SparkSession

import dbt_spark_session  # noqa: F401  # adds what the tests replace
from delta_scd2 import apply_changelog
from harness import PROJECT_YML, SEARCH, STAGES, DbtProject, session, tuples

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
APPLIED = "{{ delta_scd2.apply_changelog(target.schema ~ '.applied', target.schema ~ '.changelog', 'id') }}"
APPLYING = f"""
{{{{ config(materialized='table', post_hook="{APPLIED}") }}}}
select 1 as id
"""
APPLY = """
{% macro apply() %}
{% do run_query(delta_scd2.apply_changelog(target.schema ~ '.applied', target.schema ~ '.changelog', 'id')) %}
{% endmacro %}
"""
COPIES = {"models/copy.sql": COPY, "models/applying.sql": APPLYING, "macros/apply.sql": APPLY}
DDL = "id int, value string, changed_at timestamp"
REBUILD = ("--full-refresh", "--vars", "{scd2_discard_history: true}")


def rows(day: int, *pairs: tuple[int, str]) -> list[tuple]:
    return [(*pair, datetime(2024, 1, day)) for pair in pairs]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {f"models/{name}.sql": MODEL.replace("<options>", options) for name, options in MODELS.items()}
    return make_project({"dbt_project.yml": PROJECT_YML + SEARCH, **files, **COPIES})


# Spark keeps the rows itself on this target; elsewhere they are in tables.
IN_TABLES = "create table {schema}.{model}__scd2_{step}_"


@pytest.mark.parametrize(
    ("name", "staging"),
    [
        # The next test holds this for rows that Spark keeps; the case with tables holds the run after it.
        pytest.param("dim_staged", STAGES, marks=pytest.mark.slow),
        pytest.param("dim_three_clause", STAGES, marks=pytest.mark.slow),
        ("dim_increment", STAGES),
        ("dim_staged", IN_TABLES),
    ],
)
def test_rows_that_come_after_the_check_wait_for_the_next_run(
    project: DbtProject, name: str, staging: str, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkAdapter, "keeps_rows", lambda adapter: staging == STAGES)
    project.sql(f"drop table if exists {{schema}}.{name}")
    project.load("extract", DDL, rows(1, (1, "a"), (2, "a")))
    project.succeed("run", "--select", name)
    project.load("extract", DDL, rows(2, (1, "b"), (2, "a")))
    before_statement(
        staging.format(schema=project.schema, model=name, step="changes"),
        f"insert into {project.schema}.extract values (3, 'late', timestamp '2024-01-02')",
    )
    project.succeed("run", "--select", name)
    monkeypatch.undo()
    assert len(project.sql("select * from {schema}.extract where id = 3")) == 1
    current = f"select id, value from {{schema}}.{name} where is_current order by id"
    assert tuples(project.sql(current)) == [(1, "b"), (2, "a")]

    project.succeed("run", "--select", name)
    assert tuples(project.sql(current)) == [(1, "b"), (2, "a"), (3, "late")]
    assert project.staged() == []


# What happens to the extract just before a step of the run, and the versions that are new or deleted after it.
TWICE = "insert into {extract} values (1, 'b', timestamp '2024-01-02')"
LATE = TWICE.replace("1, 'b'", "4, 'late'")
NEXT = "(1, 'c', timestamp '2024-01-03'), (2, 'a', timestamp '2024-01-03')"
IN_BETWEEN = {
    "twice": ("changed_keys", TWICE, "1 row(s) that repeat the business key of another one: id 1"),
    "moved": (
        "changed_keys",
        "update {extract} set changed_at = changed_at + interval 1 day",
        [(1, "b", 3), (3, "new", 3)],
    ),
    "unseen": ("changed_rows", LATE, [(1, "b", 2), (3, "new", 2)]),
    "changed": (
        "changed_rows",
        "update {extract} set value = 'c' where id < 3",
        [(1, "c", 2), (2, "c", 2), (3, "new", 2)],
    ),
    "gone": ("changed_rows", "delete from {extract} where id > 1", [(1, "b", 2), (2, "a", 1)]),
    "nameless": (
        "changed_rows",
        "update {extract} set id = null where id = 3",
        "1 row(s) with a null in the business key",
    ),
    "replaced": ("changed_rows", f"insert overwrite {{extract}} values {NEXT}", [(1, "c", 3)]),
    "followed": ("changed_rows", f"insert into {{extract}} values {NEXT}", [(1, "b", 2), (3, "new", 2)]),
}


@pytest.fixture(scope="module")
def first_version(project: DbtProject) -> int:
    """The version of `dim_seen` after a first load, to which each test returns."""
    project.load("extract", DDL, rows(1, (1, "a"), (2, "a")))
    project.write({"models/dim_seen.sql": MODEL.replace("<options>", "effective_at='changed_at'")})
    project.succeed("run", "--select", "dim_seen")
    return project.version("dim_seen")


@pytest.mark.parametrize("case", IN_BETWEEN)
def test_a_source_that_is_written_while_it_is_read_is_taken_as_it_was_seen_once(
    project: DbtProject, first_version: int, case: str, before_statement
) -> None:
    step, query, expected = IN_BETWEEN[case]
    project.sql(f"restore table {{schema}}.dim_seen to version as of {first_version}")
    project.load("extract", DDL, rows(2, (1, "b"), (2, "a"), (3, "new")))
    versions = {table: project.version(table) for table in ("extract", "dim_seen")}
    before_statement(
        STAGES.format(schema=project.schema, model="dim_seen", step=step),
        query.replace("{extract}", f"{project.schema}.extract"),
    )
    if isinstance(expected, str):
        assert expected in project.fail("run", "--select", "dim_seen")
        assert project.version("dim_seen") == versions["dim_seen"]
    else:
        project.succeed("run", "--select", "dim_seen")
        found = project.sql("""
            select id, value, day(effective_from) from {schema}.dim_seen
            where effective_from > '2024-01-01' or is_deleted
            order by id""")
        assert tuples(found) == expected
    assert project.version("extract") == versions["extract"] + 1
    assert project.staged() == []


def test_a_model_that_gives_other_rows_each_time_is_staged(project: DbtProject, statements: list[str]) -> None:
    config = MODEL.split("with")[0].replace("<options>", "")
    for name, value in ("dim_same", "value"), ("dim_random", "concat(value, uuid())"):
        project.write(
            {f"models/{name}.sql": f"{config}select id, {value} as value from {{{{ target.schema }}}}.extract"}
        )
    for day, value in (1, "a"), (2, "b"):
        project.load("extract", DDL, rows(day, (1, "a"), (2, value)))
        statements.clear()
        project.succeed("run", "--select", "dim_same", "dim_random")

    staged_all = [
        name
        for name in ("dim_same", "dim_random")
        if any(STAGES.format(schema=project.schema, model=name, step="rows") in sql for sql in statements)
    ]
    assert staged_all == ["dim_random"]
    for name in "dim_same", "dim_random":
        found = project.sql(f"select id, substr(value, 1, 1) from {{schema}}.{name} where is_current order by id")
        assert tuples(found) == [(1, "a"), (2, "b")]


# Whether a query is no more than files to read, row by row.
PLANS = {
    "select id, upper(value) as value from {extract} where id > 0": True,
    "select * from {extract} union all select * from {extract}": True,
    "select * from {marked}": True,
    "select distinct id, value from {extract}": False,
    "select * from {extract} left semi join {marked} using (id)": False,
    "select * from {extract} where id <= (select max(id) from {marked})": False,
    "select *, row_number() over (order by id) as number from {extract}": False,
    "select * from {extract} limit 1": False,
    "select * from {extract} tablesample (50 percent)": False,
    "select id, explode(array(1, 2)) as part from {extract}": False,
    "select * from values (1, 'a') as t (id, value)": False,
    "select * from parquet.`{directory}/extract.parquet`": False,
    "select * from json.`{directory}/extract.json`": False,
}


def test_files_to_read_are_told_from_other_plans(project: DbtProject) -> None:
    project.load("extract", DDL, rows(1, (1, "a"), (2, "b")))
    project.write({"extract.json": '{"id": 1, "value": "a"}'})
    session().range(3).write.parquet(f"{project.directory}/extract.parquet")
    marked = "create table {schema}.marked using delta tblproperties ('delta.enableDeletionVectors' = 'true')"
    project.sql(f"{marked} as select * from {{schema}}.extract")
    project.sql("delete from {schema}.marked where id = 1")
    names = {
        "extract": f"{project.schema}.extract",
        "marked": f"{project.schema}.marked",
        "directory": project.directory,
    }
    answers = []
    for number, query in enumerate(PLANS):
        project.sql(f"create view {{schema}}.plan_{number} as {query.format(**names)}")
        answer = f"execute and delta_scd2.query_is_plain_delta_scan(target.schema ~ '.plan_{number}')"
        answers.append(f"{{{{ {answer} }}}} as plan_{number}")
    project.write({"models/plans.sql": f"{{{{ config(materialized='table') }}}}\nselect {', '.join(answers)}"})
    project.succeed("run", "--select", "plans")
    assert dict(zip(PLANS, project.sql("select * from {schema}.plans")[0], strict=True)) == PLANS


def test_rows_come_back_as_they_were_whatever_pages_of_parquet_have(
    project: DbtProject, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkAdapter, "keeps_rows", lambda adapter: False)
    hadoop = spark._jsc.hadoopConfiguration()
    project.load("extract", DDL, rows(11, (1, "first"), (2, "second")))
    project.succeed("run", "--select", "dim_staged", *REBUILD)
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
    assert project.staged() == []


@pytest.mark.parametrize(
    ("keeps", "command"), [(False, ("run", "--select", "applying")), (True, ("run-operation", "apply"))]
)
def test_changes_that_come_after_the_check_are_not_applied_by_the_macro(
    project: DbtProject, keeps: bool, command: tuple[str, ...], before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkAdapter, "keeps_rows", lambda adapter: keeps)
    project.sql("create schema if not exists {schema}")
    project.sql("create or replace table {schema}.applied using delta as select 1 as id, 'a' as value")
    project.load("changelog", "id int, value string, _change_type string", [(2, "b", "insert")])
    before_statement(
        f"merge into {project.schema}.applied ", f"insert into {project.schema}.changelog values (3, 'late', 'insert')"
    )
    assert project.dbt(*command).success
    monkeypatch.undo()
    assert len(project.sql("select * from {schema}.changelog")) == 2
    assert tuples(project.sql("select id, value from {schema}.applied order by id")) == [(1, "a"), (2, "b")]
    # The statement that reads them comes after the macro.
    (left,) = project.staged("applied_*")
    project.sql(f"drop view {left}" if keeps else f"drop table {{schema}}.{left}")


def test_changes_that_come_after_the_check_are_not_applied_by_the_function(
    project: DbtProject, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.sql("create schema if not exists {schema}")
    project.sql("create or replace table {schema}.applied using delta as select 1 as id, 'a' as value")
    project.load("changelog", "id int, value string, _change_type string", [(2, "b", "insert")])
    log = spark.table(f"{project.schema}.changelog")
    merge_into = type(log).mergeInto

    def merged(*arguments: Any) -> Any:
        project.sql("insert into {schema}.changelog values (3, 'late', 'insert')")
        return merge_into(*arguments)

    monkeypatch.setattr(type(log), "mergeInto", merged)
    assert apply_changelog(spark, f"{project.schema}.applied", log, "id")["inserted"] == 1
    assert tuples(project.sql("select id, value from {schema}.applied order by id")) == [(1, "a"), (2, "b")]


def test_a_refused_run_leaves_nothing_behind(project: DbtProject) -> None:
    project.load("extract", DDL, rows(3, (1, "b"), (1, "c")))
    assert "repeat the business key of another one" in project.fail("run", "--select", "dim_staged")
    project.load("extract", DDL, rows(3, (9, "z")))
    assert "max_delete_fraction" in project.fail("run", "--select", "dim_staged")
    assert project.staged() == []


def test_what_a_killed_run_left_goes_after_a_day_and_nothing_else(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a cluster: rows that Spark keeps are gone with the run.
    monkeypatch.setattr(SparkAdapter, "keeps_rows", lambda adapter: False)
    project.load("extract", DDL, rows(1, (1, "a")))
    ours = ["rows_20200101000000_0a1f", "known_events_20200101000000_0a1f"]
    theirs = ["2020_backup", "backup__old", "rows_20990101000000_0a1f"]
    for name in [*ours, *theirs]:
        project.sql(f"create table {{schema}}.dim_left__scd2_{name} using parquet as select 1 as id")
    project.write({"models/dim_left.sql": MODEL.replace("<options>", "")})
    project.succeed("run", "--select", "dim_left")
    assert sorted(project.staged("dim_left")) == sorted(f"dim_left__scd2_{name}" for name in theirs)
    for name in theirs:
        project.sql(f"drop table {{schema}}.dim_left__scd2_{name}")
