"""What a load did is written down, and the last load can be taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from dbt.adapters.spark.session import Cursor
from dbt.cli.main import dbtRunner, dbtRunnerResult
from dbt_common.invocation import get_invocation_id

from harness import PROJECT_YML, ROOT, DbtProject, session, tuples
from oracle import COLUMNS

EXTRACTS = """
{{ config(materialized='scd2', unique_key='id', effective_at='extracted_at', scd2_columns={'surrogate_key': 'sk'}) }}
select * from {{ target.schema }}.extracts
"""
EVENTS = """
{{ config(
    materialized='scd2', unique_key='id', source_kind='changelog', effective_at='_commit_timestamp',
    sequence_by='_commit_version', scd2_columns={'surrogate_key': 'sk'}
) }}
{{ delta_scd2.changes_since_last_run(target.schema ~ '.feed') }}
"""
TOLD = """
{{ config(materialized='scd2', unique_key='id', source_kind='changelog', effective_at='at', change_type='kind') }}
select * from {{ target.schema }}.told
"""
LOG = "{{ config(materialized='load_log') }}\n{{ delta_scd2.load_log_sql() }}\n"
# Hooks of the project that fail, one as a statement with `--fail-fast`, the other one in Jinja with `--quiet`.
HOOKS = """
on-run-end:
  - "{{ 'select broken' if flags.FAIL_FAST }}"
  - "{{ exceptions.raise_compiler_error('broken') if flags.QUIET }}"
  - "{{ delta_scd2.log_loads(results) }}"
"""
DDL = "id int, value string, extracted_at timestamp"
DAYS = [datetime(2024, 1, day) for day in (1, 2, 3)]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    project = make_project(
        {
            "dbt_project.yml": PROJECT_YML + HOOKS,
            "models/dim_extracts.sql": EXTRACTS,
            "models/dim_events.sql": EVENTS,
            "models/dim_told.sql": TOLD,
            "models/scd2_loads.sql": LOG,
        }
    )
    project.load("extracts", DDL, [(key, "a", DAYS[0]) for key in range(1, 5)])
    project.sql("create table {schema}.feed (id int, value string) using delta")
    project.sql("alter table {schema}.feed set tblproperties (delta.enableChangeDataFeed = true)")
    project.sql("insert into {schema}.feed values (1, 'a'), (2, 'a')")
    return project


def log(project: DbtProject, columns: str) -> list[tuple]:
    """The rows of the log by run, and by model within a run, whose models start in any order."""
    runs = "(select *, min(started_at) over (partition by invocation_id) as run_at from {schema}.scd2_loads)"
    return tuples(project.sql(f"select {columns} from {runs} order by run_at, model, started_at"))


def undo(project: DbtProject, **arguments: object) -> dbtRunnerResult:
    return project.dbt("run-operation", "undo_load", "--args", json.dumps(arguments))


@contextmanager
def signing(signature: str) -> Iterator[None]:
    """Commits carry the signature of a run."""
    setting = "spark.databricks.delta.commitInfo.userMetadata"
    session().conf.set(setting, signature)
    try:
        yield
    finally:
        session().conf.unset(setting)


def versions(project: DbtProject) -> list[tuple]:
    """All versions of both dimensions, and what is remembered of events."""
    return (
        project.history("dim_extracts", COLUMNS)
        + project.history("dim_events", COLUMNS)
        + project.history("dim_events__events", "id, value, effective_from")
    )


def test_a_build_writes_one_row_for_each_dimension(project: DbtProject) -> None:
    project.succeed("build", "--exclude", "dim_told")
    assert log(
        project, "model, status, plan, rows_read, opened, closed, deleted, skipped, source_version, delta_version"
    ) == [
        ("dim_events", "success", "create", 2, 2, 0, 0, 0, 2, 1),
        ("dim_extracts", "success", "create", 4, 4, 0, 0, 0, None, 0),
    ]
    ids = {row[0] for row in log(project, "invocation_id")}
    commits = project.sql("describe history {schema}.dim_extracts")
    assert {json.loads(commit["userMetadata"])["dbt_invocation_id"] for commit in commits} == ids


def test_later_loads_are_added_with_what_they_did(project: DbtProject) -> None:
    # 1 changes, 2 is gone, 5 is new
    project.load("extracts", DDL, [(1, "b", DAYS[1]), *((key, "a", DAYS[1]) for key in (3, 4, 5))])
    project.sql("update {schema}.feed set value = 'b' where id = 1")
    project.succeed("build", "--exclude", "dim_told")
    feed = {row.version: row.timestamp for row in project.sql("describe history {schema}.feed")}
    assert log(project, "model, plan, first_effective_at, rows_read, opened, closed, deleted, source_version")[2:] == [
        ("dim_events", "compared", feed[3], 1, 1, 1, 0, 3),
        ("dim_extracts", "compared", DAYS[1], 4, 2, 1, 1, None),
    ]
    seconds = [row[0] for row in log(project, "seconds")]
    assert min(seconds) > 0


def test_a_run_that_changes_nothing_says_so_although_another_hook_fails(project: DbtProject) -> None:
    before = project.version("dim_extracts")
    assert "broken" in project.fail("run", "--select", "dim_extracts", "--fail-fast")
    assert log(project, "plan, rows_read, opened, skipped, delta_version")[4:] == [("none", 4, 0, 4, None)]
    assert project.version("dim_extracts") == before


def test_a_load_that_fails_is_logged_with_its_message_although_another_hook_fails(project: DbtProject) -> None:
    # A program may run dbt again with the same manifest.
    places = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT)]
    program = dbtRunner(manifest=project.dbt("parse").result)
    assert program.invoke(["run", "--select", "dim_extracts", *places]).success
    project.load("extracts", DDL, [(1, "it's \\ broken", DAYS[2])])
    assert not program.invoke(["run", "--select", "dim_extracts", "--quiet", *places]).success
    status, plan, rows_read, message = log(project, "status, plan, rows_read, message")[-1]
    assert (status, plan, rows_read) == ("error", None, None)
    assert "max_delete_fraction" in message


def test_the_last_load_is_taken_back_only_when_asked_for(
    project: DbtProject, capsys: pytest.CaptureFixture, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = versions(project)
    project.load("extracts", DDL, [(1, "c", DAYS[2]), *((key, "a", DAYS[2]) for key in (3, 4, 5))])
    project.sql("delete from {schema}.feed where id = 1")
    project.succeed("run", "--exclude", "scd2_loads", "dim_told")
    after = versions(project)
    assert after != before
    last = log(project, "invocation_id")[-1][0]

    for model in ("dim_extracts", "dim_events"):
        assert undo(project, model=model, invocation=last).success
        assert "Nothing was written" in capsys.readouterr().out
    assert versions(project) == after

    # What was interrupted between its two tables is completed.
    before_statement(f"restore table {project.schema}.dim_events ", "select * from killed")
    assert "killed" in refused(project, capsys, model="dim_events")
    monkeypatch.undo()
    for model in ("dim_extracts", "dim_events"):
        assert undo(project, model=model, apply=True).success
    assert versions(project) == before
    assert "took back a load already, and the load before it is not taken back" in refused(
        project, capsys, model="dim_events"
    )
    assert [row[0] for row in log(project, "message")][-1] == f"took back the load of invocation {last}"

    # what the tables remember of their loads was taken back too, so the same load can come again
    project.succeed("run", "--exclude", "scd2_loads", "dim_told")
    assert versions(project) == after


def refused(project: DbtProject, capsys: pytest.CaptureFixture, **arguments: object) -> str:
    """What dbt prints of an operation that fails."""
    capsys.readouterr()
    assert not undo(project, apply=True, **arguments).success
    return capsys.readouterr().out


def test_only_the_last_load_of_dbt_is_taken_back(
    project: DbtProject, capsys, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = versions(project)
    assert "did you mean `dim_extracts`" in refused(project, capsys, model="dim_extract")
    assert "not by nobody" in refused(project, capsys, model="dim_extracts", invocation="nobody")
    assert versions(project) == before
    # By hand, after the operation has read the history of the table.
    update = f"update {project.schema}.dim_extracts set value = 'by hand' where id = 3"
    before_statement(f"describe history {project.schema}.dim_extracts limit 1", update)
    assert "is a UPDATE that the last load did not make" in refused(project, capsys, model="dim_extracts")
    monkeypatch.undo()
    by_hand = versions(project)
    assert by_hand != before
    assert "is a UPDATE that the last load did not make" in refused(project, capsys, model="dim_extracts")
    assert versions(project) == by_hand


def test_what_others_committed_during_the_last_load_is_not_lost(project: DbtProject, capsys) -> None:
    signature = project.sql("describe history {schema}.dim_events")[0]["userMetadata"]
    project.sql("update {schema}.dim_events set value = 'by hand' where id = 2")
    by_hand = versions(project)
    with signing(signature):
        project.sql("alter table {schema}.dim_events set tblproperties ('noted' = 'yes')")
    assert "is a UPDATE that the last load did not make" in refused(project, capsys, model="dim_events")
    assert versions(project) == by_hand


def test_a_position_in_the_feed_that_was_noted_since_is_taken_back_with_the_load(project: DbtProject, capsys) -> None:
    project.sql("restore table {schema}.dim_events to version as of 1")
    project.sql("update {schema}.feed set value = 'wrong' where id = 2")
    project.succeed("run", "--select", "dim_events")
    load = log(project, "invocation_id")[-1][0]
    with signing('{"dbt_invocation_id": "later"}'):
        project.sql("alter table {schema}.dim_events set tblproperties ('scd2.consumed_version' = '99')")
        project.sql("alter table {schema}.dim_events alter column value comment 'Later.'")
        project.sql("optimize {schema}.dim_events zorder by (value)")
    capsys.readouterr()
    assert undo(project, model="dim_events").success
    assert f"was made by invocation {load} at" in (out := capsys.readouterr().out)
    assert "Commits to undo: " in out
    assert "OPTIMIZE, CHANGE COLUMN, SET TBLPROPERTIES, SET TBLPROPERTIES, MERGE." in out
    assert "not by later" in refused(project, capsys, model="dim_events", invocation="later")
    assert undo(project, model="dim_events", apply=True).success
    assert project.sql("select count(*) as n from {schema}.dim_events where value = 'wrong'")[0].n == 0
    properties = {row.key: row.value for row in project.sql("show tblproperties {schema}.dim_events")}
    assert properties["scd2.consumed_version"] != "99"


def test_what_was_deleted_from_the_log_stays_deleted(project: DbtProject) -> None:
    project.sql("delete from {schema}.scd2_loads")
    project.sql("update {schema}.feed set value = value || '!' where id = 2")
    project.succeed("run", "--select", "dim_events")
    project.load("extracts", DDL, [(key, "e", datetime(2024, 1, 21)) for key in range(1, 6)])
    project.succeed("run", "--select", "dim_extracts")
    assert log(project, "model, status") == [("dim_events", "success"), ("dim_extracts", "success")]


def test_the_load_that_created_a_table_is_not_taken_back(project: DbtProject, capsys) -> None:
    project.sql("drop table {schema}.dim_extracts")
    project.succeed("run", "--select", "dim_extracts")
    before = versions(project)
    assert "drop the table" in refused(project, capsys, model="dim_extracts")
    assert versions(project) == before


def test_a_load_of_events_that_changed_no_version_is_taken_back(project: DbtProject) -> None:
    # The next loads are the first ones of a new log.
    project.sql("drop table {schema}.scd2_loads")
    ddl = "id int, value string, kind string, at timestamp"
    remembered = "select count(*) as n from {schema}.dim_told__events"
    project.load("told", ddl, [(1, "a", "insert", DAYS[0])])
    project.succeed("run", "--select", "dim_told")
    built = project.version("dim_told")
    project.load("told", ddl, [(1, "a", "update", DAYS[1])])
    project.succeed("run", "--select", "dim_told")
    assert (project.version("dim_told"), project.sql(remembered)[0].n) == (built, 2)

    assert undo(project, model="dim_told", invocation=log(project, "invocation_id")[-1][0], apply=True).success
    assert (project.version("dim_told"), project.sql(remembered)[0].n) == (built, 1)


def test_a_load_from_before_the_first_row_of_the_log_is_added(project: DbtProject) -> None:
    project.load("extracts", DDL, [(key, "f", datetime(2024, 1, 22)) for key in range(1, 6)])
    project.succeed("run", "--select", "dim_extracts")
    added = [row for row in log(project, "model, plan") if row[0] == "dim_extracts"]
    assert added == [("dim_extracts", None), ("dim_extracts", "compared")]


def test_an_interrupted_undo_of_events_alone_is_completed(
    project: DbtProject, capsys, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.load("told", "id int, value string, kind string, at timestamp", [(1, "a", "update", DAYS[1])])
    project.succeed("run", "--select", "dim_told")
    # In the dimension itself the run left a note, as of how far it read a feed.
    with signing(project.sql("describe history {schema}.dim_told__events")[0]["userMetadata"]):
        project.sql("alter table {schema}.dim_told set tblproperties ('scd2.consumed_version' = '5')")
    before_statement(f"restore table {project.schema}.dim_told ", "select * from killed")
    assert "killed" in refused(project, capsys, model="dim_told")
    monkeypatch.undo()
    assert undo(project, model="dim_told", apply=True).success
    assert project.sql("select count(*) as n from {schema}.dim_told__events")[0].n == 1
    assert "scd2.consumed_version" not in {row.key for row in project.sql("show tblproperties {schema}.dim_told")}


def test_a_load_that_wrote_one_table_is_taken_back_after_an_earlier_undo(project: DbtProject, capsys) -> None:
    told = "id int, value string, kind string, at timestamp"
    remembered = "select count(*) as n from {schema}.dim_told__events"
    for value in ("b", "a"):
        built = project.history("dim_told", COLUMNS)
        project.load("told", told, [(1, value, "update", DAYS[1])])
        project.succeed("run", "--select", "dim_told")
        assert project.sql(remembered)[0].n == 2
        assert undo(project, model="dim_told", apply=True).success
        assert (project.history("dim_told", COLUMNS), project.sql(remembered)[0].n) == (built, 1)
        assert "took back a load already, and the load before it is not taken back" in refused(
            project, capsys, model="dim_told"
        )


def test_a_load_that_created_the_table_of_events_beside_a_dimension_is_taken_back(
    project: DbtProject, capsys, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.sql("drop table {schema}.dim_told__events")
    project.sql("alter table {schema}.dim_told unset tblproperties ('scd2.events_id')")
    before = project.history("dim_told", COLUMNS)
    project.load("told", "id int, value string, kind string, at timestamp", [(1, "b", "update", DAYS[1])])
    project.succeed("run", "--select", "dim_told")
    after = project.history("dim_told", COLUMNS)
    assert after != before
    before_statement(f"drop table {project.schema}.dim_told__events", "select * from killed")
    assert "killed" in refused(project, capsys, model="dim_told")
    monkeypatch.undo()
    assert undo(project, model="dim_told", apply=True).success
    assert project.history("dim_told", COLUMNS) == before
    assert not session().catalog.tableExists(f"{project.schema}.dim_told__events")
    project.succeed("run", "--select", "dim_told")
    assert project.history("dim_told", COLUMNS) == after


def test_columns_of_a_load_that_failed_are_taken_back_with_the_load_before_it(
    project: DbtProject, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = project.history("dim_extracts", COLUMNS)
    project.load("extracts", DDL, [(key, "wrong", datetime(2024, 1, 23)) for key in range(1, 6)])
    project.succeed("run", "--select", "dim_extracts")
    assert project.history("dim_extracts", COLUMNS) != before
    wider = DDL.replace("value string", "value string, size int")
    project.load("extracts", wider, [(key, "right", 7, datetime(2024, 1, 24)) for key in range(1, 6)])
    before_statement(f"merge into {project.schema}.dim_extracts", "select * from killed")
    assert "killed" in project.fail("run", "--select", "dim_extracts")
    monkeypatch.undo()
    operations = [commit.operation for commit in project.sql("describe history {schema}.dim_extracts limit 2")]
    assert operations == ["SET TBLPROPERTIES", "ADD COLUMNS"]
    assert undo(project, model="dim_extracts", apply=True).success
    assert project.history("dim_extracts", COLUMNS) == before


def test_a_killed_load_is_added_although_maintenance_followed_it(project: DbtProject) -> None:
    with signing('{"dbt_invocation_id": "killed"}'):
        project.sql("delete from {schema}.dim_extracts where id = 5")
        project.sql("""
            merge into {schema}.dim_extracts as dim using (select 4 as id) as row on dim.id = row.id and dim.is_current
            when matched then update set value = dim.value
        """)
    for number in range(3):
        project.sql(f"alter table {{schema}}.dim_extracts set tblproperties ('maintained' = '{number}')")
    project.load("extracts", DDL, [(key, "g", datetime(2024, 1, 25)) for key in range(1, 6)])
    project.succeed("run", "--select", "dim_extracts")
    assert "killed" in {row[0] for row in log(project, "invocation_id")}


def test_a_load_that_an_overlapping_run_found_first_is_told_by_its_own_run(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Cursor.execute
    found = "found in the history of the table: its run did not write this log"

    def overlapped(cursor: Cursor, sql: str, *parameters: object) -> None:
        if "select invocation_id, relation, message from" in sql:
            project.sql(
                "insert into {schema}.scd2_loads (invocation_id, started_at, model, relation, status, message) values "
                f"('{get_invocation_id()}', now(), 'dim_extracts', '{{schema}}.dim_extracts', 'success', '{found}')"
            )
        execute(cursor, sql, *parameters)

    project.load("extracts", DDL, [(key, "h", datetime(2024, 1, 25, 12)) for key in range(1, 6)])
    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", overlapped)
        result = project.succeed("run", "--select", "dim_extracts")["dim_extracts"]
    newest = project.sql("select * from {schema}.scd2_loads where last_effective_at = timestamp '2024-01-25 12:00:00'")
    assert [(row.plan, row.opened, row.message) for row in newest] == [("compared", 5, result.message)]
    told = project.sql(f"select * from {{schema}}.scd2_loads where invocation_id = '{newest[0].invocation_id}'")
    assert told == newest


def test_the_log_has_the_configuration_of_its_model(make_project, tmp_path: Path) -> None:
    options = f"""
        materialized='load_log', location_root='{tmp_path}', tblproperties={{'delta.appendOnly': 'true'}},
        pre_hook='create table {{{{ this.schema }}}}.begun using delta as select 1 as id',
        post_hook="alter table {{{{ this }}}} set tblproperties ('ended' = 'yes')"
    """
    project = make_project(
        {"models/scd2_loads.sql": f"{{{{ config({options}) }}}} {{{{ delta_scd2.load_log_sql() }}}}"}
    )
    project.succeed("run")
    detail = project.sql("describe detail {schema}.scd2_loads")[0]
    assert detail.location.removeprefix("file:") == str(tmp_path / "scd2_loads")
    assert {"delta.appendOnly", "ended"} <= detail.properties.keys()
    assert len(project.sql("select * from {schema}.begun")) == 1
    project.sql("drop table {schema}.scd2_loads")
    project.sql("drop table {schema}.begun")
    assert "run-operation register_tables" in project.fail("run")
    assert project.dbt("run-operation", "register_tables").success
    project.sql("drop table {schema}.begun")
    project.succeed("run")


def test_a_log_of_an_earlier_release_gets_the_columns_that_it_lacks(project: DbtProject) -> None:
    columns = "invocation_id, started_at, model, relation, status, message"
    project.sql(f"create table {{schema}}.earlier using delta as select {columns} from {{schema}}.scd2_loads")
    project.sql("drop table {schema}.scd2_loads")
    project.sql("create view {schema}.scd2_loads as select * from {schema}.earlier")
    assert "a view named" in project.fail("run", "--select", "scd2_loads")
    project.sql("drop view {schema}.scd2_loads")
    project.sql("alter table {schema}.earlier rename to {schema}.scd2_loads")
    for day, selected in ((26, ["dim_extracts"]), (27, ["scd2_loads", "dim_extracts"])):
        project.load("extracts", DDL, [(key, f"h{day}", datetime(2024, 1, day)) for key in range(1, 6)])
        project.sql("alter table {schema}.scd2_loads set tblproperties ('delta.columnMapping.mode' = 'name')")
        project.sql("alter table {schema}.scd2_loads drop column if exists plan")
        project.succeed("run", "--select", *selected)
        assert [row[0] for row in log(project, "plan")][-1] == "compared"


def test_a_table_that_was_made_for_a_migration_is_no_load(make_project) -> None:
    config = "materialized='scd2', unique_key='id', effective_at='at', unknown_member=true"
    project = make_project(
        {
            "dbt_project.yml": PROJECT_YML + HOOKS,
            "models/dim_later.sql": f"{{{{ config({config}) }}}} select * from {{{{ target.schema }}}}.later",
            "models/scd2_loads.sql": LOG,
        }
    )
    project.load("later", "id int, at timestamp", [(1, DAYS[1]), (2, DAYS[1])])
    project.load("old", "id int, since timestamp, until timestamp", [(1, DAYS[0], None)])
    project.succeed("run", "--empty")
    columns = {"effective_from": "since", "effective_to": "until"}
    arguments = {"model": "dim_later", "from": f"{project.schema}.old", "scd2_columns": columns, "apply": True}
    assert project.dbt("run-operation", "migrate_dimension", "--args", json.dumps(arguments)).success
    project.succeed("run")
    assert [row[0] for row in log(project, "message")] == ["MERGE 1 opened, 0 closed, 0 deleted"]


def test_a_load_is_taken_back_after_one_that_recorded_columns_alone(make_project) -> None:
    config = "materialized='scd2', unique_key='id', effective_at='at', max_delete_fraction=1"
    query = "select * from {{ target.schema }}.batch"
    project = make_project({"models/dim_grown.sql": f"{{{{ config({config}) }}}}\n{query}"})
    for ddl, row in (
        ("id int, at timestamp", (1, DAYS[0])),
        ("id int, colour string, at timestamp", (1, "red", DAYS[0])),
        ("id int, colour string, at timestamp", (1, "blue", DAYS[1])),
    ):
        project.load("batch", ddl, [row])
        project.succeed("run")
    assert undo(project, model="dim_grown", apply=True).success
    assert project.history("dim_grown", "colour") == [("red",)]


def test_what_was_restored_is_told_where_the_other_table_was_written_meanwhile(
    project: DbtProject, capsys, before_statement
) -> None:
    project.sql("update {schema}.feed set value = value || '?' where id = 1")
    project.succeed("run", "--select", "dim_events")
    before_statement(
        f"restore table {project.schema}.dim_events__events ",
        f"alter table {project.schema}.dim_events set tblproperties ('made_by' = 'another')",
    )
    said = refused(project, capsys, model="dim_events")
    assert "dim_events__events was restored, but version" in said
    assert "Nothing was written" not in said
