"""A run that is overtaken by another one, between its reading and its MERGE, ends clean."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache

import pytest

from harness import INVARIANTS, STAGES, DbtProject, tuples

MODEL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='extracted_at', surrogate_key='sequence',
    scd2_columns={'surrogate_key': 'sk'}, <options>
) }}
select *<kind> from {{ target.schema }}.extracts
"""
MODELS = {
    "dim_staged": "merge_plan='staged', hard_deletes='new_record'",
    "dim_three_clause": "merge_plan='three_clause', max_delete_fraction=1",
    "dim_increment": "source_kind='increment'",
    "dim_events": "source_kind='changelog'",
}
KINDS = {"dim_events": ", 'update' as _change_type"}
SCHEMA = "version: 2\nmodels:\n" + "".join(f"  - {{name: {name}, data_tests: {INVARIANTS}}}\n" for name in MODELS)
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
    files = {
        f"models/{name}.sql": MODEL.replace("<options>", options).replace("<kind>", KINDS.get(name, ""))
        for name, options in MODELS.items()
    }
    return make_project({**files, "models/schema.yml": SCHEMA})


@pytest.fixture
def overtaken_at(project: DbtProject, before_statement):
    """A function that lets another run commit before a statement: what the table holds at one of its versions."""

    def overtake(statement: str, name: str, version: int) -> None:
        before_statement(statement, f"restore table {project.schema}.{name} to version as of {version}")

    return overtake


def load(project: DbtProject, name: str, numbers: list[int]) -> list[int]:
    """Apply extracts one by one, and return the versions of the table after each."""
    versions = []
    for number in numbers:
        project.load("extracts", DDL, rows(number))
        project.succeed("run", "--select", name)
        versions.append(project.version(name))
    return versions


@pytest.fixture(scope="module")
def loaded(project: DbtProject) -> Callable[[str], tuple[int, int]]:
    """A function that returns the versions of a dimension after its first and second extract, which it loads once."""

    @cache
    def versions(name: str) -> tuple[int, int]:
        first, second = load(project, name, [0, 1])
        return first, second

    return versions


def history(project: DbtProject, name: str) -> list[tuple]:
    return sorted(
        tuples(project.sql(f"select id, value, effective_from, is_current, is_deleted, sk from {{schema}}.{name}"))
    )


@pytest.mark.parametrize(
    "name", ["dim_staged", *(pytest.param(name, marks=pytest.mark.slow) for name in [*MODELS][1:3])]
)
def test_the_second_of_two_runs_ends_clean(
    project: DbtProject,
    name: str,
    loaded: Callable[[str], tuple[int, int]],
    overtaken_at,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = loaded(name)
    project.sql(f"restore table {{schema}}.{name} to version as of {second}")
    load(project, name, [2])
    expected = history(project, name)
    project.sql(f"restore table {{schema}}.{name} to version as of {first}")
    project.load("extracts", DDL, rows(2))
    overtaken_at(f"merge into {project.schema}.{name} ", name, second)
    message = project.fail("run", "--select", name)
    assert f"{name}: {project.schema}.{name} changed while this run was reading it. No row was written." in message
    assert project.sql(f"describe history {{schema}}.{name} limit 1")[0].operation == "RESTORE"

    monkeypatch.undo()
    project.succeed("run", "--select", name)
    project.succeed("test", "--select", name)
    assert history(project, name) == expected


def test_an_extract_that_a_newer_one_overtakes_is_late(
    project: DbtProject, loaded: Callable[[str], tuple[int, int]], overtaken_at
) -> None:
    first, _ = loaded("dim_staged")
    project.sql(f"restore table {{schema}}.dim_staged to version as of {first}")
    (newer,) = load(project, "dim_staged", [2])
    expected = history(project, "dim_staged")
    project.sql(f"restore table {{schema}}.dim_staged to version as of {first}")
    project.load("extracts", DDL, rows(1))
    overtaken_at("as fingerprint", "dim_staged", newer)
    message = project.fail("run", "--select", "dim_staged")
    assert "dim_staged changed while this run was reading it.\n  Nothing was written." in message
    message = project.fail("run", "--select", "dim_staged")
    assert "the extract of 2024-01-02 00:00:00 UTC comes too late" in message
    assert "the dimension already has the history up to 2024-01-03" in message
    assert history(project, "dim_staged") == expected


@pytest.mark.parametrize(
    ("name", "statement", "end"),
    [
        ("dim_staged", STAGES.replace("{step}", "changed_keys"), "\n  Nothing was written."),
        ("dim_increment", "as wrong_rows", " No row was written."),
    ],
)
def test_what_changes_nothing_is_not_noted_of_a_dimension_that_changed(
    project: DbtProject, name: str, statement: str, end: str, loaded: Callable[[str], tuple[int, int]], overtaken_at
) -> None:
    first, second = loaded(name)
    project.sql(f"restore table {{schema}}.{name} to version as of {first}")
    project.load("extracts", DDL, [(*row, datetime(2024, 1, 3)) for row in EXTRACTS[0]])
    overtaken_at(statement.format(schema=project.schema, model=name), name, second)
    message = project.fail("run", "--select", name)
    assert f"{name}: {project.schema}.{name} changed while this run was reading it.{end}" in message
    assert project.sql(f"describe history {{schema}}.{name} limit 1")[0].operation == "RESTORE"


@pytest.mark.parametrize("name", ["dim_staged", "dim_three_clause"])
def test_an_older_extract_does_not_follow_a_newer_one_that_changed_nothing(
    project: DbtProject, name: str, loaded: Callable[[str], tuple[int, int]], before_statement
) -> None:
    first, _ = loaded(name)
    table = f"{project.schema}.{name}"
    project.sql(f"restore table {table} to version as of {first}")
    before = history(project, name)
    project.load("extracts", DDL, rows(1))
    applied = f"{project.properties(name).get('scd2.extracts', '')},2024-01-05 00:00:00.000000"
    record = f"alter table {table} set tblproperties ('scd2.extracts' = '{applied}')"
    before_statement(STAGES.partition("{step}")[0].format(schema=project.schema, model=name), record)
    message = project.fail("run", "--select", name)
    assert f"{name}: {table} changed while this run was reading it.\n  Nothing was written." in message
    assert history(project, name) == before
    assert project.properties(name)["scd2.extracts"] == applied


def test_an_inferred_row_does_not_take_back_an_extract_that_another_run_recorded(
    make_project, before_statement
) -> None:
    config = "materialized='scd2', unique_key='id', effective_at='at', inferred_member='is_inferred'"
    query = "select * from {{ target.schema }}.members"
    project = make_project({"models/dim_member.sql": f"{{{{ config({config}) }}}}\n{query}"})
    member = (1, False, datetime(2024, 1, 1))
    project.load("members", "id int, is_inferred boolean, at timestamp", [member])
    project.succeed("run")
    project.load("members", "id int, is_inferred boolean, at timestamp", [member, (2, True, None)])
    table = f"{project.schema}.dim_member"
    applied = f"{project.properties('dim_member')['scd2.extracts']},2024-01-05 00:00:00.000000"
    record = f"alter table {table} set tblproperties ('scd2.extracts' = '{applied}')"
    before_statement(
        STAGES.partition("{step}")[0].format(schema=project.schema, model="dim_member") + "changes", record
    )
    assert f"{table} changed while this run was reading it." in project.fail("run")
    assert project.properties("dim_member")["scd2.extracts"] == applied


def test_an_event_that_another_run_remembered_is_not_passed_over(project: DbtProject, before_statement) -> None:
    load(project, "dim_events", [0])
    before = history(project, "dim_events")
    events = f"{project.schema}.dim_events__events"
    project.load("extracts", DDL, rows(1))
    before_statement(f"merge into {project.schema}.dim_events ", f"insert into {events} select * from {events}")
    assert "dim_events changed while this run was reading it. No row" in project.fail("run", "--select", "dim_events")
    assert history(project, "dim_events") == before


LATE_ROW = (2, "b", datetime(2024, 1, 1))


@pytest.mark.parametrize("others", [[], [LATE_ROW]], ids=["compared", "staged"])
def test_an_event_that_another_run_adds_behind_the_versions_is_not_missed(
    project: DbtProject, before_statement, others: list[tuple]
) -> None:
    table = f"{project.schema}.dim_events"
    for name in (table, f"{table}__events"):
        project.sql(f"drop table if exists {name}")
    versions = []
    for batch in (
        [(1, "a", datetime(2024, 1, 1)), (2, "a", datetime(2024, 1, 5))],
        [(1, "a", datetime(2024, 1, 20))],  # changes nothing yet
    ):
        project.load("extracts", DDL, batch)
        project.succeed("run", "--select", "dim_events")
        versions.append(project.version("dim_events__events"))
    project.sql(f"restore table {table}__events to version as of {versions[0]}")

    project.load("extracts", DDL, [(1, "b", datetime(2024, 1, 10)), *others])
    before_statement(f"insert into {table}__events ", f"restore table {table}__events to version as of {versions[1]}")
    message = project.fail("run", "--select", "dim_events")
    assert f"dim_events: {table}__events changed while this run was reading it. The events of this run" in message
    project.succeed("run", "--select", "dim_events")
    project.succeed("test", "--select", "dim_events")
    found = history(project, "dim_events")
    assert [(key, value, begin.day, is_current) for key, value, begin, is_current, *_ in found] == [
        (1, "a", 1, False),
        (1, "a", 20, True),
        (1, "b", 10, False),
        (2, "a", 5, True),
        *((key, value, begin.day, False) for key, value, begin in others),
    ]


def test_events_that_came_to_be_after_the_invocation_began_are_remembered(make_project, before_statement) -> None:
    model = MODEL.replace("<options>", "source_kind='changelog'").replace("<kind>", "")
    project = make_project({"models/dim_beside.sql": model})
    ddl = f"{DDL}, _change_type string"
    deletion = (2, "gone", datetime(2024, 1, 20), "delete")
    project.load("extracts", ddl, [(1, "a", datetime(2024, 1, 1), "insert"), deletion])
    project.succeed("run")
    events, elsewhere = f"{project.schema}.dim_beside__events", f"{project.schema}.away"
    project.sql(f"alter table {events} rename to {elsewhere}")
    project.load("extracts", ddl, [(2, "late", datetime(2024, 1, 2), "insert")])
    # As if another run had made the table meanwhile.
    before_statement("create or replace temporary view", f"alter table {elsewhere} rename to {events}")
    project.succeed("run")
    found = project.sql("select effective_to, is_deleted from {schema}.dim_beside where id = 2")
    assert tuples(found) == [(datetime(2024, 1, 20), True)]
