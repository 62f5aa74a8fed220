"""All models of a run share one session and one catalog, and none meets the names of another."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from dbt.adapters.spark import SparkAdapter

from harness import PROJECT_YML, DbtProject, session, tuples

ROWS = {"one": 5, "two": 7}
# Both spell `x__y__z`, whatever joins a schema and an alias by two underscores.
PLACES = {"one": ("x", "y__z"), "two": ("x__y", "z")}
KEYED = "unique_key='id', scd2_columns={'surrogate_key': 'sk'}"
SQL = {
    "dim": f"materialized='scd2', {KEYED}",
    "copy": "materialized='scd1', unique_key='id'",
    "grown": "materialized='incremental', incremental_strategy='merge', unique_key='id',"
    " on_schema_change='append_new_columns'",
}
PYTHON = {
    "py_dim": "materialized='scd2', unique_key='id', scd2_columns={'surrogate_key': 'sk'}",
    "py_table": "materialized='table'",
    "py_grown": "materialized='incremental', incremental_strategy='merge', unique_key='id'",
}
KINDS = [*SQL, *PYTHON]
LONG = "l" * 118
# Of each pair the second one goes on as the tables do that the first one lays down.
PREFIXES = ["dim_a", "dim_a__scd2_rows", "dim_a__scd2", LONG]
BROKEN = f"""
{{{{ config(materialized='scd2', {KEYED}) }}}}
select id, {{{{ delta_scd2.strict_cast("'seven'", 'int') }}}} as number from range(3)
"""


def age(**ago: float) -> str:
    return (datetime.now(UTC) - timedelta(**ago)).strftime("%Y%m%d%H%M%S")


def sql_model(options: str, value: str, schema: str | None, alias: str) -> str:
    place = f"alias='{alias}'" + (f", schema='{schema}'" if schema else "")
    kind = ", 'insert' as _change_type" * ("scd1" in options)
    return (
        f"{{{{ config({options}, {place}) }}}}\n"
        f"select cast(id as int) as id, '{value}' as value{kind} from range({ROWS[value]})"
    )


def python_model(options: str, value: str, schema: str, alias: str) -> str:
    return (
        "def model(dbt, session):\n"
        f"    dbt.config({options}, schema='{schema}', alias='{alias}')\n"
        f"    return session.range({ROWS[value]}).selectExpr('cast(id as int) as id', \"'{value}' as value\")\n"
    )


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {"dbt_project.yml": PROJECT_YML + 'on-run-end: "{{ delta_scd2.log_loads(results) }}"\n'}
    for value, (schema, alias) in PLACES.items():
        for kind, options in SQL.items():
            # dbt-spark names the view of an incremental model by its alias alone.
            own = "same" if kind == "grown" else f"{kind}_{alias}"
            files[f"models/{kind}_{value}.sql"] = sql_model(
                options, value, f"{kind}_{schema}", own.removeprefix("dim_")
            )
        for kind, options in PYTHON.items():
            files[f"models/{kind}_{value}.py"] = python_model(options, value, f"{kind}_{schema}", alias)
    for name in PREFIXES:
        files[f"models/{name}.sql"] = sql_model(SQL["dim"], "one", None, name)
    return make_project({**files, "models/dim_broken.sql": BROKEN})


def contents(project: DbtProject) -> dict[str, list[tuple]]:
    """How many rows each model made, and what they say."""
    found = {}
    for value, (schema, alias) in PLACES.items():
        for kind in KINDS:
            table = "same" if kind == "grown" else f"{kind}_{alias}".removeprefix("dim_") if kind in SQL else alias
            name = f"{project.schema}_{kind}_{schema}.{table}"
            found[f"{kind}_{value}"] = tuples(project.sql(f"select value, count(*) from {name} group by value"))
    return found


def shared_views(statements: list[str]) -> dict[str, set[str]]:
    """The temporary views that were made for models of both kinds of rows, whether their threads met or not."""
    made: dict[str, set[str]] = {}
    for sql in statements:
        for name, query in re.findall(r"create or replace temporary view (\S+) as(.*)", sql, re.DOTALL):
            made.setdefault(name, set()).update(value for value in ROWS if f"'{value}' as value" in query)
    return {name: values for name, values in made.items() if len(values) > 1}


def rows_in_memory(project: DbtProject) -> list[str]:
    """The names of the staged rows that Spark still stores for the models of a project."""
    stored = session().sparkContext._jsc.sc().getRDDStorageInfo()
    return [info.name() for info in stored if info.name().startswith(project.schema)]


def test_models_of_similar_names_keep_their_rows_and_leave_nothing_behind(
    project: DbtProject, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {
        "of_nobody__scd2_rows_20240101000000_ab12",
        f"of_nobody__scd2_changed_rows_{age(days=8)}_0123abcd",
        f"dim_a__scd2_known_events_{age(days=2)}_0123abcd",
    }
    at_work = {
        f"of_nobody__scd2_rows_{age(days=3)}_0123abcd",
        f"dim_a__scd2_rows_{age(hours=3)}_0123abcd",
        "of_nobody__scd2_rows_2024_backup",
    }
    project.sql("create schema if not exists {schema}")
    for name in left | at_work:
        project.sql(f"create table {{schema}}.{name} using parquet as select 1 as id")

    expected = {f"{kind}_{value}": [(value, ROWS[value])] for kind in KINDS for value in PLACES}
    results = project.dbt("run", "--threads", "4").result.results
    messages = {result.node.name: str(result.message) for result in results if result.status == "error"}
    assert messages.keys() == {"dim_broken"}
    assert "cannot cast" in messages["dim_broken"]
    assert contents(project) == expected
    assert {*project.staged()} - {*PREFIXES} == at_work | left
    assert rows_in_memory(project) == []

    # Only a load that stages its rows in tables looks for what others left behind.
    monkeypatch.setattr(SparkAdapter, "keeps_rows", lambda adapter: False)
    results = project.succeed("run", "--threads", "2", "--exclude", "dim_broken")
    assert contents(project) == expected
    assert {*project.staged()} - {*PREFIXES} == at_work
    assert sum("create or replace temporary view" in sql for sql in statements) > 2 * len(SQL)
    assert shared_views(statements) == {}
    loads = [*PREFIXES, *(f"{kind}_{value}" for kind in ("dim", "copy", "py_dim") for value in PLACES)]
    assert {name: str(results[name].message) for name in loads} == dict.fromkeys(loads, "UNCHANGED")
