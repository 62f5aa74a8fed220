"""Where dbt does not list the table behind a feed: unit tests, ephemeral models, `--empty`, and tables made later."""

from __future__ import annotations

import pytest

from harness import PROJECT_YML, DbtProject, tuples

FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"
COPY = "{{ config(materialized='scd1', unique_key='id', change_ordinal='_commit_version') }}\n"
LATEST = """
{{ delta_scd2.latest_changes(
    "(select * from table_changes('" ~ target.schema ~ ".people', 2))", 'id',
    change_ordinal='_commit_version', table=source('silver', 'people')
) }}
"""
SOURCES = """
sources:
  - {name: silver, schema: "{{ target.schema }}", tables: [{name: people}]}
"""
UNIT_TESTS = """
unit_tests:
  - name: of_a_copy
    model: copied
    given:
      - input: source('silver', 'people')
        format: sql
        rows: "select 1 as id, 'Bern' as city, 'insert' as _change_type, 1L as _change_ordinal"
    expect: {rows: [{id: 1, city: Bern}]}
  - name: of_events
    model: flattened
    given:
      - input: ref('events')
        format: sql
        rows: "select 'c' as op, null as before, named_struct('id', 1) as after, 1 as at"
    expect: {rows: [{id: 1}]}
"""


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    event = "select 'd' as op, named_struct('id', 1) as before, null as after, 1 as at"
    project = make_project(
        {
            "models/sources.yml": SOURCES,
            "models/unit_tests.yml": UNIT_TESTS,
            "models/copied.sql": "{{ config(materialized='scd1', unique_key='id') }}\n"
            "select * from ({{ delta_scd2.changelog(source('silver', 'people'), 'id', from_version=1) }})",
            "models/fleeting.sql": "{{ config(materialized='ephemeral') }}\nselect 1 as id",
            "models/of_fleeting.sql": "{{ config(materialized='table') }}\n"
            "select * from ({{ delta_scd2.changelog(ref('fleeting'), 'id') }})",
            "models/events.sql": f"{{{{ config(materialized='table') }}}}\n{event}",
            "models/flattened.sql": "{{ config(materialized='scd1', unique_key='id') }}\n"
            "{{ delta_scd2.flatten_changelog(ref('events'), ordinal='at') }}",
            "models/applied.sql": "{{ config(materialized='incremental', incremental_strategy='append', post_hook="
            "\"{{ delta_scd2.apply_changelog(ref('kept'), ref('copied'), 'id', change_type='city') }}\") }}\n"
            "-- depends_on: {{ ref('kept') }}, {{ ref('copied') }}\nselect 1 as id",
            "models/kept.sql": "{{ config(materialized='table') }}\nselect 1 as id",
        }
    )
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    project.sql("insert into {schema}.people values (1, 'delete')")
    project.sql("insert into {schema}.people values (2, 'insert')")
    return project


def test_the_rows_of_a_unit_test_stand_for_the_table(project: DbtProject) -> None:
    project.succeed("run", "--select", "copied", "events", "kept")
    results = project.dbt("test", "--select", "test_type:unit").result.results
    messages = {result.node.name: (result.status, str(result.message)) for result in results}
    assert messages["of_a_copy"][0] == "pass", messages
    assert "give them as `keys`, as a unit test does not see `unique_key`; or `keys=[]`" in messages["of_events"][1]


def test_an_ephemeral_model_has_no_feed(project: DbtProject) -> None:
    refused = "of_fleeting: fleeting is an ephemeral model, so it has no change data feed"
    assert refused in project.fail("run", "--select", "of_fleeting")


def test_a_hook_applies_no_change_in_an_empty_run(project: DbtProject) -> None:
    project.succeed("run", "--select", "copied", "kept")
    project.succeed("run", "--empty", "--select", "applied")
    assert tuples(project.sql("select * from {schema}.kept")) == [(1,)]
    project.succeed("run", "--select", "applied")
    assert tuples(project.sql("select * from {schema}.kept order by id")) == [(1,), (2,)]


def test_a_table_is_read_that_was_made_after_dbt_listed_its_schema(make_project) -> None:
    hook = (
        "create table {{ target.schema }}.people "
        + FEED
        + " as select 1 as id, city from values ('a'), ('b') as t (city)"
    )
    project = make_project(
        {
            "dbt_project.yml": PROJECT_YML + f"on-run-start: ['{hook.replace(chr(39), chr(39) * 2)}', "
            "\"delete from {{ target.schema }}.people where city = 'b'\"]\n",
            "models/sources.yml": SOURCES,
            "models/copied.sql": COPY + LATEST.replace("', 2)", "', 1)"),
        }
    )
    # Of two rows of the key one is left, which only the table tells: the feed is read from the deletion on.
    project.succeed("run")
    assert tuples(project.sql("select id, city from {schema}.copied")) == [(1, "a")]
