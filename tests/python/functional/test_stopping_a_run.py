"""Ctrl-C and SIGTERM stop a run; each load is whole, or has written nothing, and is in the log."""

from __future__ import annotations

import json
import signal
from functools import partial

import pytest

from harness import PROJECT_YML, DbtProject, session, tuples
from stopping import as_the_command, at, stop_by

DIMENSION = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='_commit_timestamp',
    sequence_by='_commit_version', surrogate_key='sequence', scd2_columns={'surrogate_key': 'sk'}
) }}
select * from ({{ changes_since_last_run(target.schema ~ '.people') }})
"""
LOG = "{{ config(materialized='load_log') }}\n{{ load_log_sql() }}\n"
HOOKS = 'on-run-end: "{{ log_loads(results) }}"\n'
FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    project = make_project(
        {
            "dbt_project.yml": PROJECT_YML + HOOKS,
            "models/dim_people.sql": DIMENSION,
            "models/scd2_loads.sql": LOG,
        }
    )
    session().sql(f"create schema if not exists {project.schema}")
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    change(project, 0)
    project.succeed("run")
    return project


def change(project: DbtProject, number: int) -> None:
    """One commit, with a new row and a change of the row before."""
    project.sql(
        f"merge into {{schema}}.people using (select {number} as id, 'new' as city union all "
        f"select {number - 1}, 'changed' where {number} > 0) as c on people.id = c.id "
        "when matched then update set city = c.city when not matched then insert *"
    )


def expected(commits: int) -> list[tuple]:
    """The versions that this many commits make."""
    rows = []
    for number in range(commits):
        is_last = number == commits - 1
        rows.append((number, "new", number + 1, is_last))
        if not is_last:
            rows.append((number, "changed", number + 2, True))
    return rows


def commits_loaded(project: DbtProject) -> int:
    """How many commits the dimension holds, where its versions, its events and its record hold the same."""
    versions = tuples(
        project.sql("select id, city, _commit_version, is_current from {schema}.dim_people order by id, effective_from")
    )
    number = max(row[0] for row in versions) + 1
    assert versions == expected(number)
    assert project.sql("select count(*) from {schema}.dim_people__events")[0][0] == 2 * number - 1
    properties = dict(tuples(project.sql("show tblproperties {schema}.dim_people")))
    assert properties["scd2.consumed_version"] == str(number)
    return number


def unlogged(project: DbtProject) -> set[str]:
    """The runs that committed to the dimension and are not in the load log."""
    signed = {
        json.loads(commit["userMetadata"])["dbt_invocation_id"]
        for commit in project.sql("describe history {schema}.dim_people")
        if commit["userMetadata"] and commit["operation"] in ("MERGE", "CREATE OR REPLACE TABLE AS SELECT")
    }
    logged = [row[0] for row in project.sql("select invocation_id from {schema}.scd2_loads where model = 'dim_people'")]
    assert len(logged) == len(set(logged)), "a load is in the log twice"
    return signed - set(logged)


def staged(project: DbtProject) -> list[str]:
    return [name for name in project.relations() if "__scd2_" in name]


STOPS = [
    ("before", "create table {schema}.dim_people__scd2_changes", signal.SIGINT, False),
    ("before", "merge into {schema}.dim_people ", signal.SIGTERM, False),
    ("after", "merge into {schema}.dim_people ", signal.SIGINT, True),
    ("after", "insert into {schema}.dim_people__events ", signal.SIGTERM, True),
    ("before", "insert into {schema}.scd2_loads", signal.SIGINT, True),
]


def test_a_load_that_is_stopped_is_whole_or_has_written_nothing_and_is_logged(project: DbtProject, capsys) -> None:
    number = commits_loaded(project)
    for point, text, how, is_loaded in STOPS:
        before = commits_loaded(project)
        change(project, number)
        number += 1
        capsys.readouterr()
        with as_the_command(), at(point, text.replace("{schema}", project.schema), partial(stop_by, how)):
            result = project.dbt("run")
        printed = "".join(capsys.readouterr())
        assert "Traceback" not in printed, printed
        assert result.success or isinstance(result.exception, KeyboardInterrupt)
        assert commits_loaded(project) == (number if is_loaded else before), (point, text)
        assert unlogged(project) == set()
        assert staged(project) == []
        last = project.sql("select status, delta_version, message from {schema}.scd2_loads order by started_at desc")[0]
        assert (last[0] == "success", last[1] is not None) == (is_loaded, is_loaded), last
        assert is_loaded or "the run was stopped" in last[2]
    change(project, number)
    project.succeed("run")
    assert commits_loaded(project) == number + 1


def test_the_next_run_logs_what_a_killed_one_did_not(project: DbtProject) -> None:
    for _ in range(2):
        change(project, commits_loaded(project))
        project.succeed("run", "--select", "dim_people")
    newest = project.sql("describe history {schema}.dim_people")
    runs = [row[0] for row in project.sql("select invocation_id from {schema}.scd2_loads order by started_at desc")]
    project.sql(f"delete from {{schema}}.scd2_loads where invocation_id in ('{runs[0]}', '{runs[1]}')")
    assert unlogged(project) == set(runs[:2])
    project.succeed("run", "--select", "dim_people")
    found = project.sql(
        "select invocation_id, delta_version from {schema}.scd2_loads where message like 'found in the history%'"
    )
    merges = {
        (json.loads(commit["userMetadata"])["dbt_invocation_id"], commit["version"])
        for commit in newest
        if commit["operation"] == "MERGE"
    }
    assert {row[0] for row in found} == set(runs[:2])
    assert {tuple(row) for row in found} <= merges
    assert unlogged(project) == set()


def test_a_table_that_was_made_without_rows_is_no_load(project: DbtProject) -> None:
    project.write(
        {"models/dim_later.sql": "{{ config(materialized='scd2', unique_key='id') }}\nselect 1 as id, 'a' as v"}
    )
    for flags in (["--empty"], []):
        project.succeed("run", *flags, "--select", "dim_later")
    assert len(project.sql("select * from {schema}.scd2_loads where model = 'dim_later'")) == 1
