"""A dimension that follows the change data feed of its source, from version to version."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from harness import DbtProject

MODEL = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='_commit_timestamp',
    <sequence> full_refresh=false, scd2_columns={'surrogate_key': 'sk'}
) }}
select * from ({{ delta_scd2.changes_since_last_run(target.schema ~ '.<source>') }})
"""
FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    sequence = "sequence_by='_commit_version',"
    models = {"dim_people": ("people", sequence), "dim_silent": ("silent", sequence), "dim_blind": ("people", "")}
    project = make_project(
        {
            f"models/{name}.sql": MODEL.replace("<source>", source).replace("<sequence>", sequence)
            for name, (source, sequence) in models.items()
        }
    )
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    project.sql("create table {schema}.silent (id int, city string) using delta")
    project.sql("insert into {schema}.people values (1, 'Bern'), (2, 'Chur')")
    return project


def run(project: DbtProject, *options: str) -> str:
    return str(project.succeed("run", "--select", "dim_people", *options)["dim_people"].message)


def history(project: DbtProject) -> list[tuple]:
    rows = project.sql(
        "select id, city, people_commit_version, effective_to < '9999-12-31', is_deleted from {schema}.dim_people"
        " order by id, effective_from"
    )
    return [tuple(row) for row in rows]


def test_only_what_changed_is_read(project: DbtProject) -> None:
    assert run(project) == "CREATE 2 opened, 0 closed, 0 deleted"
    assert history(project) == [(1, "Bern", 1, False, False), (2, "Chur", 1, False, False)]

    project.sql("update {schema}.people set city = 'Basel' where id = 1")
    project.sql("delete from {schema}.people where id = 2")
    project.sql("insert into {schema}.people values (3, 'Genf')")
    # History is protected from the flag, so the feed is followed on.
    assert run(project, "--full-refresh") == "MERGE 2 opened, 1 closed, 1 deleted"
    project.sql("update {schema}.people set id = 4 where id = 3")
    assert run(project) == "MERGE 1 opened, 0 closed, 1 deleted"
    expected = [
        (1, "Bern", 1, True, False),
        (1, "Basel", 2, False, False),
        (2, "Chur", 1, True, True),
        (3, "Genf", 4, True, True),
        (4, "Genf", 5, False, False),
    ]
    assert history(project) == expected

    before = [project.version(name) for name in ("dim_people", "dim_people__events")]
    project.sql("optimize {schema}.people")
    assert run(project) == "UNCHANGED"
    assert [project.version(name) for name in ("dim_people", "dim_people__events")] == before


def test_a_run_that_died_is_repeated(project: DbtProject) -> None:
    events = project.version("dim_people__events")
    project.sql("insert into {schema}.people values (5, 'Sion')")
    project.sql("update {schema}.people set city = 'Visp' where id = 5")
    run(project)
    expected = history(project)
    assert expected[-2:] == [(5, "Sion", 7, True, False), (5, "Visp", 8, False, False)]
    # As a run leaves it that died after its MERGE, before it remembered and recorded.
    project.sql(f"restore table {{schema}}.dim_people__events to version as of {events}")
    (read,) = [commit.timestamp for commit in project.sql("describe history {schema}.people") if commit.version == 5]
    record = f"'scd2.consumed_version' = '5', 'scd2.consumed_commit' = '{read.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}'"
    project.sql(f"alter table {{schema}}.dim_people set tblproperties ({record})")
    assert run(project) == "UNCHANGED"
    assert history(project) == expected
    assert project.sql("select count(*) as n from {schema}.dim_people__events where id = 5")[0].n == 2


def test_a_first_run_that_died_before_its_record_is_followed_on(project: DbtProject) -> None:
    rows = history(project)
    project.sql("alter table {schema}.dim_people unset tblproperties ('scd2.consumed_version', 'scd2.consumed_at')")
    project.sql("delete from {schema}.people where id = 5")
    assert run(project) == "MERGE 0 opened, 0 closed, 1 deleted"
    assert history(project) == [*rows[:-1], (*rows[-1][:3], True, True)]


def test_the_time_zone_of_the_machine_does_not_matter(project: DbtProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.sql("insert into {schema}.people values (6, 'Olten')")
    assert run(project) == "MERGE 1 opened, 0 closed, 0 deleted"
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        message = run(project)
    time.tzset()
    assert message == "UNCHANGED"


def test_an_empty_run_makes_an_empty_dimension(project: DbtProject) -> None:
    project.sql("alter table {schema}.dim_people rename to {schema}.dim_kept")
    project.succeed("run", "--empty", "--select", "dim_people")
    assert history(project) == []
    project.sql("drop table {schema}.dim_people")
    project.sql("alter table {schema}.dim_kept rename to {schema}.dim_people")


def test_commits_without_changes_are_left_behind_once_a_day(project: DbtProject) -> None:
    run(project)
    two_days_ago, yesterday = (datetime.now(UTC) - timedelta(hours=hours) for hours in (48, 25))
    project.age("people", two_days_ago)
    last_read = project.version("people")
    project.sql("alter table {schema}.people set tblproperties ('note' = 'one')")
    text = yesterday.strftime("%Y-%m-%d %H:%M:%S")
    aged = f"'scd2.consumed_at' = '{text}', 'scd2.consumed_commit' = '{two_days_ago:%Y-%m-%d %H:%M:%S}'"
    project.sql(f"alter table {{schema}}.dim_people set tblproperties ({aged})")
    assert run(project) == "UNCHANGED"
    recorded = project.properties("dim_people")
    assert int(recorded["scd2.consumed_version"]) == last_read + 1
    assert recorded["scd2.consumed_at"] > text

    version = project.version("dim_people")
    project.sql("alter table {schema}.people set tblproperties ('note' = 'two')")
    assert run(project) == "UNCHANGED"
    assert project.version("dim_people") == version
    project.sql("insert into {schema}.people values (7, 'Thun')")
    assert run(project) == "MERGE 1 opened, 0 closed, 0 deleted"


def test_errors_name_the_remedy(project: DbtProject) -> None:
    project.succeed("run", "--select", "dim_silent")
    project.sql("insert into {schema}.silent values (1, 'Bern')")
    as_if_read = "'scd2.consumed_version' = '0', 'scd2.consumed_at' = '2100-01-01'"
    project.sql(f"alter table {{schema}}.dim_silent set tblproperties ({as_if_read})")
    message = project.fail("run", "--select", "dim_silent")
    assert "set tblproperties (delta.enableChangeDataFeed = true)`, and remove `full_refresh: false`" in message
    assert "from the model, and rebuild the dimension" in message

    refused = "a model that calls `changes_since_last_run` needs `_commit_version` as `sequence_by`"
    assert refused in project.fail("run", "--select", "dim_blind")

    before = project.version("dim_people")
    newest = project.version("people")
    project.sql("drop table {schema}.people")
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    refused = f"people is not the table that {project.schema}.dim_people read up to version {newest} at "
    message = project.fail("run", "--select", "dim_people")
    assert refused in message
    assert "it was made anew" in message
    assert project.version("dim_people") == before


def test_another_table_of_the_same_name_is_refused(make_project) -> None:
    model = MODEL.replace("<source>", "people").replace("<sequence>", "sequence_by='_commit_version',")
    project = make_project({"models/dim_people.sql": model})
    project.sql("create schema if not exists {schema}")
    # It has more commits, all of them before the run; then it takes the place of the other.
    project.sql(f"create table {{schema}}.newer_people (id int, city string) {FEED}")
    for number in (1, 2, 3):
        project.sql(f"insert into {{schema}}.newer_people values ({number}, 'Olten')")
    time.sleep(1)
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    project.sql("insert into {schema}.people values (1, 'Bern'), (9, 'Chur')")
    assert run(project) == "CREATE 2 opened, 0 closed, 0 deleted"
    project.sql("alter table {schema}.people rename to {schema}.older_people")
    project.sql("alter table {schema}.newer_people rename to {schema}.people")
    assert "it was made anew, or is another table" in project.fail("run", "--select", "dim_people")
    # Its rows would be dated before those that the dimension has.
    catch_up = ("--vars", "{scd2_catch_up: true}")
    assert "the last commit of " in project.fail("run", "--select", "dim_people", *catch_up)
    project.sql("alter table {schema}.people set tblproperties ('note' = 'followed')")
    run(project, *catch_up)
    live = project.sql("select id, city from {schema}.dim_people where is_current and not is_deleted order by id")
    assert live == [(1, "Olten"), (2, "Olten"), (3, "Olten")]
    assert run(project) == "UNCHANGED"


def test_a_model_that_follows_two_tables_is_refused(project: DbtProject) -> None:
    one = MODEL.replace("<source>", "people").replace("<sequence>", "sequence_by='_commit_version',")
    project.write({"models/dim_both.sql": one + "union all" + one[one.index("select *") - 1 :]})
    problem = project.fail("run", "--select", "dim_both")
    assert "the model calls `changes_since_last_run` more than once, and can follow one table" in problem


def test_a_whole_run_after_a_sample_reads_the_whole_table(make_project) -> None:
    model = MODEL.replace("<source>", "people").replace("<sequence>", "sequence_by='_commit_version',")
    project = make_project({"models/dim_people.sql": model})
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    project.sql("insert into {schema}.people values (1, 'Bern'), (2, 'Chur')")
    run(project, "--sample", "3 days")
    project.sql("insert into {schema}.people values (3, 'Genf')")
    assert run(project) == "CREATE 3 opened, 0 closed, 0 deleted"
    assert run(project) == "UNCHANGED"


def test_a_feed_that_was_read_by_hand_for_a_while_is_followed_on(make_project) -> None:
    model = MODEL.replace("<source>", "people").replace("<sequence>", "sequence_by='_commit_version',")
    call = "({{ delta_scd2.changes_since_last_run(target.schema ~ '.people') }})"
    by_hand = model.replace(call, "table_changes('{{ target.schema }}.people', 2)")
    assert by_hand != model
    project = make_project({})
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    for number, text in enumerate([model, by_hand, model, model]):
        project.sql(f"insert into {{schema}}.people values ({number}, 'Bern')")
        project.write({"models/dim_people.sql": text})
        assert run(project).split(" ", 1)[1].startswith("1 opened, 0 closed, 0 deleted")


def test_a_dimension_of_extracts_goes_on_with_the_feed(make_project) -> None:
    extracts = "{{ config(materialized='scd2', unique_key='id', scd2_columns={'surrogate_key': 'sk'}) }}\n"
    follows = MODEL.replace("<source>", "people").replace("<sequence>", "sequence_by='_commit_version',")
    project = make_project({"models/dim_people.sql": extracts + "select * from {{ target.schema }}.people"})
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.people (id int, city string) {FEED}")
    project.sql("insert into {schema}.people values (1, 'Bern'), (2, 'Chur'), (3, 'Genf')")
    project.succeed("run")
    project.write({"models/dim_people.sql": follows})
    refused = f"the last commit of {project.schema}.people is not later than what {project.schema}.dim_people holds"
    assert refused in project.fail("run")
    project.sql("delete from {schema}.people where id = 2")
    project.sql("update {schema}.people set city = 'Basel' where id = 1")
    project.sql("insert into {schema}.people values (4, 'Sion')")
    assert run(project) == "MERGE 2 opened, 1 closed, 1 deleted"
    assert history(project) == [
        (1, "Bern", None, True, False),
        (1, "Basel", 4, False, False),
        (2, "Chur", None, True, True),
        (3, "Genf", None, False, False),
        (4, "Sion", 4, False, False),
    ]
    assert run(project) == "UNCHANGED"
    project.sql("delete from {schema}.people where id = 3")
    assert run(project) == "MERGE 0 opened, 0 closed, 1 deleted"


def test_what_the_first_run_of_a_feed_asks_of_a_dimension_with_a_history(make_project, before_statement) -> None:
    extracts = "{{ config(materialized='scd2', unique_key='id', scd2_columns={'surrogate_key': 'sk'}) }}\n"
    names = ("many", "killed", "renamed", "ignoring")
    ignoring = ", hard_deletes='ignore'"
    # The column that orders the rows of a version comes with the feed.
    query = "select id, city from {{ target.schema }}."
    project = make_project({f"models/dim_{name}.sql": extracts + query + name for name in names})
    project.write({"models/dim_ignoring.sql": extracts.replace(") }}", ignoring + ") }}") + query + "ignoring"})
    project.sql("create schema if not exists {schema}")
    for name in names:
        project.sql(f"create table {{schema}}.{name} (id int, city string, seq int) {FEED}")
        project.sql(f"insert into {{schema}}.{name} values (1, 'Bern', 1), (2, 'Chur', 1), (3, 'Genf', 1)")
    project.succeed("run")
    for name in names:
        follows = MODEL.replace("<source>", name).replace("<sequence>", "sequence_by=['_commit_version', 'seq'],")
        if name == "ignoring":
            follows = follows.replace("'seq'],", f"'seq']{ignoring},")
        sk = "'effective_from': 'since', 'surrogate_key'" if name == "renamed" else "'surrogate_key'"
        project.write({f"models/dim_{name}.sql": follows.replace("'surrogate_key'", sk)})
    # A name for a column that the table does not have is still told as by every load.
    project.sql("delete from {schema}.renamed where id = 3")
    assert "lacks the column `since`, which the materialization keeps" in project.fail("run", "--select", "dim_renamed")

    # The run that deletes a key dies before its record, so that no row tells how far it read.
    project.sql("delete from {schema}.killed where id = 3")
    before_statement("'scd2.consumed_version' = ", "select * from killed_run")
    assert "killed_run" in project.fail("run", "--select", "dim_killed")
    assert project.succeed("run", "--select", "dim_killed")["dim_killed"].message == "UNCHANGED"
    assert project.properties("dim_killed")["scd2.consumed_version"] == "2"
    columns = "id, is_deleted"
    assert project.history("dim_killed", columns) == [(1, False), (2, False), (3, True)]

    project.sql("delete from {schema}.many where id > 1")
    refused = f"{project.schema}.many lacks 2 of the 3 live keys of {project.schema}.dim_many, which would be deleted"
    assert refused in project.fail("run", "--select", "dim_many")
    project.succeed("run", "--select", "dim_many", "--vars", "{scd2_catch_up: true}")
    assert project.history("dim_many", columns) == [(1, False), (2, True), (3, True)]
    project.sql("delete from {schema}.ignoring where id > 1")
    project.succeed("run", "--select", "dim_ignoring")
    assert project.history("dim_ignoring", columns) == [(1, False), (2, False), (3, False)]
