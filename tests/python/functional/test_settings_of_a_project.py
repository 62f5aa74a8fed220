"""What a project may configure for all of its models, or make itself, goes on working beside this package."""

from __future__ import annotations

from harness import PROJECT_YML, tuples

DIMENSION = "{{ config(materialized='scd2', unique_key='id') }}\nselect 1 as id, 'a' as value"
HOOK = 'on-run-end: "{{ delta_scd2.log_loads(results) }}"\n'
LOG = "{{ config(materialized='<kind>') }}\n{{ delta_scd2.load_log_sql() }}\n"

# As dbt's guide shows a materialization, with two views for two queries.
MATERIALIZATION = """
{% materialization in_two_parts, adapter='spark' %}
    {%- set first = make_temp_relation(this, '_first') -%}
    {%- set second = make_temp_relation(this, '_second') -%}
    {% do run_query(create_table_as(True, first, sql)) %}
    {% do run_query(create_table_as(True, second, 'select 2 as id')) %}
    {% call statement('main') %}
        create or replace table {{ this }} using delta as
        select * from {{ first }} union all select * from {{ second }}
    {% endcall %}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
"""

PYTHON = """
import csv as json


def model(dbt, session):
    dbt.config(materialized="table")
    return session.createDataFrame([(1, json.QUOTE_ALL)], "id int, quoting int")
"""


def test_a_comment_behind_statements_is_refused_only_where_spark_would_read_it(make_project) -> None:
    project = make_project({
        "dbt_project.yml": PROJECT_YML + HOOK + "query-comment: {comment: noted, append: true}\n",
        "models/dim_people.sql": DIMENSION.replace("scd2'", "scd2', hard_delete='ignore'"),
        "models/plain.sql": "{{ config(materialized='table') }} select 1 as id",
        "models/scd2_loads.sql": LOG.replace("<kind>", "load_log"),
    })  # fmt: skip
    results = project.dbt("run").result.results
    messages = {result.node.name: str(result.message) for result in results if result.status not in ("success", "pass")}
    assert messages.keys() == {"dim_people"}
    for part in ("2 mistake(s)", "take `append: true` out of `query-comment`", "did you mean `hard_deletes`?"):
        assert part in messages["dim_people"]
    assert "dim_people" not in project.relations()
    assert tuples(project.sql("select model, status from {schema}.scd2_loads")) == [("dim_people", "error")]


def test_the_log_says_that_another_materialization_cannot_make_it(make_project) -> None:
    project = make_project({"models/scd2_loads.sql": LOG.replace("<kind>", "table")})
    message = project.fail("run")
    assert "scd2_loads: `materialized` is `table`, expected load_log." in message
    assert "set `+materialized: load_log` for scd2_loads in dbt_project.yml" in message


def test_a_materialization_of_the_project_keeps_its_views_apart(make_project) -> None:
    project = make_project({
        "macros/in_two_parts.sql": MATERIALIZATION,
        "models/parts.sql": "{{ config(materialized='in_two_parts') }} select 1 as id",
    })  # fmt: skip
    project.succeed("run")
    assert tuples(project.sql("select id from {schema}.parts order by id")) == [(1,), (2,)]


def test_a_python_model_without_a_format_is_a_delta_table_and_keeps_its_globals(make_project) -> None:
    settings = PROJECT_YML.replace("models: {tested: {+file_format: delta}}\n", "")
    project = make_project({"dbt_project.yml": settings, "models/quoted.py": PYTHON})
    for _ in range(2):
        project.succeed("run")
    assert tuples(project.sql("select id, quoting from {schema}.quoted")) == [(1, 1)]
    assert project.sql("describe detail {schema}.quoted")[0].format == "delta"


def test_a_refusal_is_told_before_the_schema_exists(make_project) -> None:
    query = """
    {{ config(materialized='scd2', unique_key='id', source_kind='changelog', effective_at='_commit_timestamp') }}
    {{ delta_scd2.changes_since_last_run(target.schema ~ '.source') }}
    """
    project = make_project({"models/dim_people.sql": query})
    project.sql("create schema {schema}_source")
    try:
        project.sql("create table {schema}_source.source (id int) using delta")
        project.write({"models/dim_people.sql": query.replace("'.source'", "'_source.source'")})
        message = project.fail("compile")
        assert "SCHEMA_NOT_FOUND" not in message
        assert "calls `changes_since_last_run` needs `_commit_version` as `sequence_by`" in message
    finally:
        project.sql("drop schema {schema}_source cascade")


def test_threads_that_render_one_ephemeral_model_do_not_disturb_each_other(make_project) -> None:
    feed = "{{ config(materialized='ephemeral') }}\n{{ delta_scd2.changelog(target.schema ~ '.source', 'id') }}"
    readers = {f"models/reader_{number}.sql": "select * from {{ ref('feed') }}" for number in range(12)}
    project = make_project({"models/feed.sql": feed, **readers})
    project.sql("create schema {schema}")
    source = "create table {schema}.source using delta tblproperties (delta.enableChangeDataFeed = true)"
    project.sql(f"{source} as select 1 as id, 'a' as value")
    project.succeed("run", "--threads", "4")


def test_an_installed_package_may_set_options_for_all_its_models(make_project) -> None:
    crm = "name: crm\nversion: 1.0.0\nconfig-version: 2\nmodels: {crm: {+file_format: delta, +event_time: loaded_at, "
    project = make_project({
        "dbt_packages/crm/dbt_project.yml": crm + "+incremental_strategy: merge, +on_schema_change: fail}}\n",
        "dbt_packages/crm/models/dim_people.sql": DIMENSION,
        "dbt_packages/crm/models/copied.sql": "{{ config(materialized='scd1', unique_key='id', change_type='kind') }}\n"
        "select 1 as id, 'insert' as kind",
    })  # fmt: skip
    messages = {name: result.message for name, result in project.succeed("run").items()}
    assert messages == {
        "dim_people": "CREATE 1 opened, 0 closed, 0 deleted",
        "copied": "CREATE 1 inserted, 0 updated, 0 deleted",
    }
