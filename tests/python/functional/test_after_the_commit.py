"""What fails after the rows are committed, and before the load is recorded, is made good by the next run."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest
from dbt.adapters.spark.session import Cursor
from dbt_common.exceptions import DbtRuntimeError

from harness import DbtProject

MODEL = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='at',
    scd2_columns={'surrogate_key': 'sk'}
) }}
select * from {{ target.schema }}.batch
"""
# A dimension fails at the statement of its number after its rows are committed; `dim_0` does not.
STATEMENTS = range(4)
DIMENSIONS = [f"dim_{number}" for number in STATEMENTS]
T = [datetime(2024, 1, day) for day in range(1, 5)]
LATER = [datetime(2024, 2, day) for day in (1, 2)]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    project = make_project({f"models/{name}.sql": MODEL for name in DIMENSIONS})
    project.load(
        "batch",
        "id int, size int, _change_type string, at timestamp",
        [(1, 1, "U", T[0]), (1, 1, "U", T[2]), (2, None, "D", T[2])],
    )
    return project


@contextmanager
def failing(project: DbtProject, commit: str) -> Iterator[list[str]]:
    """Lets one statement of each `dim_n` fail, the n-th after the one that begins with `commit`; gives these."""
    execute = Cursor.execute
    failed: list[str] = []
    counts = threading.local()

    def counted(cursor: Cursor, sql: str, *parameters: object) -> None:
        committed = re.search(rf"\b{commit} {project.schema}\.dim_(\d)\s", sql)
        left = getattr(counts, "left", 0)
        if left == 1 and not committed:
            counts.left = 0
            failed.append(sql)
            raise DbtRuntimeError("the driver is gone")
        execute(cursor, sql, *parameters)
        counts.left = int(committed[1]) if committed else max(left - 1, 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cursor, "execute", counted)
        yield failed


@contextmanager
def failing_at(statement: str) -> Iterator[None]:
    """Lets each statement that a regular expression finds fail."""
    execute = Cursor.execute

    def failed(cursor: Cursor, sql: str, *parameters: object) -> None:
        if re.search(statement, sql):
            raise DbtRuntimeError("the driver is gone")
        execute(cursor, sql, *parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cursor, "execute", failed)
        yield


def contents(project: DbtProject) -> dict[str, tuple[list[tuple], list[tuple], dict[str, str]]]:
    """Versions, events and record of each dimension."""
    found = {}
    for name in DIMENSIONS:
        recorded = project.properties(name)
        assert recorded.pop("scd2.events_id") == project.properties(f"{name}__events")["scd2.events_id"]
        found[name] = (
            project.history(name),
            project.history(f"{name}__events"),
            {key: value for key, value in recorded.items() if key.startswith("scd2.")},
        )
    return found


def fail_once(project: DbtProject, commit: str) -> list[str]:
    with failing(project, commit) as failed:
        results = project.dbt("run", "--threads", "1").result.results
    errors = {result.node.name: str(result.message) for result in results if result.status == "error"}
    assert all("the driver is gone" in message for message in errors.values()), errors
    assert errors.keys() == {*DIMENSIONS[1:]}
    project.succeed("run", "--select", *DIMENSIONS[1:])
    found = contents(project)
    for name in DIMENSIONS[1:]:
        assert found[name] == found["dim_0"], name
    return failed


def test_a_first_load_that_failed_fixes_its_options(make_project) -> None:
    project = make_project({"models/dim_fixed.sql": MODEL.replace("unique_key='id'", "unique_key=var('key')")})
    project.load("batch", "id int, size int, at timestamp, _change_type string", [(1, 5, T[0], "I")])
    with failing_at("set tblproperties"):
        assert "the driver is gone" in project.fail("run", "--vars", "{key: id}")
    assert '`unique_key` was `["id"]` when' in project.fail("run", "--vars", "{key: size}")
    assert project.succeed("run", "--vars", "{key: id}")["dim_fixed"].message == "UNCHANGED"


def test_a_first_load_that_failed_before_its_events_goes_on_without_rows(make_project) -> None:
    project = make_project({"models/dim_first.sql": MODEL})
    ddl = "id int, size int, at timestamp, _change_type string"
    project.load("batch", ddl, [(1, 5, T[0], "I")])
    with failing_at(r"create or replace table \S+__events"):
        assert "the driver is gone" in project.fail("run")
    for rows in ([], [], [(1, 6, T[1], "U")]):
        project.load("batch", ddl, rows)
        project.succeed("run")
    assert project.history("dim_first", "size, effective_from") == [(5, T[0]), (6, T[1])]
    assert project.history("dim_first__events", "size") == [(6,)]


def test_versions_whose_events_came_with_the_next_run_are_not_taken_back_halfway(make_project, capsys) -> None:
    project = make_project({"models/dim_halved.sql": MODEL})
    ddl = "id int, size int, at timestamp, _change_type string"
    for size, at in ((5, T[0]), (6, T[1])):
        project.load("batch", ddl, [(1, size, at, "U")])
        project.succeed("run")
    project.load("batch", ddl, [(1, 7, T[2], "U")])
    with failing_at(r"insert into \S+__events"):
        assert "the driver is gone" in project.fail("run")
    assert project.succeed("run")["dim_halved"].message == "UNCHANGED"
    undo = ["run-operation", "undo_load", "--args", "{model: dim_halved, apply: true}"]
    assert not project.dbt(*undo).success
    assert "is a MERGE of a run that wrote no events, and the last load wrote them" in capsys.readouterr().out
    assert project.history("dim_halved", "size") == [(5,), (6,), (7,)]
    # A load after it is taken back.
    project.load("batch", ddl, [(1, 8, T[3], "U")])
    project.succeed("run")
    assert project.dbt(*undo).success
    assert project.history("dim_halved", "size") == [(5,), (6,), (7,)]
    assert len(project.history("dim_halved__events", "size")) == 3


def give_wider_rows(project: DbtProject) -> None:
    """A batch of a table whose column is wider than it was, and whose new columns bring a default and a length."""
    project.sql("drop table {schema}.batch")
    project.sql("""
        create table {schema}.batch (
            id int, size bigint, colour string default 'red', code char(2), _change_type string, at timestamp
        ) using delta tblproperties ('delta.feature.allowColumnDefaults' = 'supported')""")
    project.sql("insert into {schema}.batch values (1, 2, default, 'CH', 'U', timestamp '2024-01-02'),"
        " (2, 5000000000, 'blue', null, 'U', timestamp '2024-01-01')")  # fmt: skip


@pytest.mark.slow
def test_a_first_load_that_failed_is_completed(project: DbtProject) -> None:
    failed = fail_once(project, "create or replace table")
    texts = ["__events (", "insert into", "set tblproperties"]
    assert [text in sql for text, sql in zip(texts, failed, strict=False)] == [True] * len(texts)


def test_a_load_that_failed_after_columns_changed_is_completed(project: DbtProject) -> None:
    project.succeed("run")
    give_wider_rows(project)
    failed = fail_once(project, "merge into")
    texts = ["create or replace table", "insert into", "set tblproperties"]
    assert [text in sql for text, sql in zip(texts, failed, strict=False)] == [True] * len(texts)
    versions, events, _ = contents(project)["dim_0"]
    assert len(events) == 2
    assert {row.colour for row in project.sql("select colour from {schema}.dim_0")} == {None, "red", "blue"}
    assert len(versions) > 2


@pytest.mark.slow
def test_a_load_that_failed_without_new_columns_is_completed(project: DbtProject) -> None:
    give_wider_rows(project)
    project.succeed("run")
    project.sql("insert overwrite {schema}.batch values (1, 3, 'blue', 'CH', 'U', timestamp '2024-01-04')")
    failed = fail_once(project, "merge into")
    assert "insert into" in failed[0]


MEMBERS = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at', inferred_member='is_inferred', max_delete_fraction=1,
    scd2_columns={'surrogate_key': 'sk'}, overwrite_columns=['size']
) }}
select * from {{ target.schema }}.extracts where at in ({{ var('at') }})
"""
# What an extract says of a key: nothing, that it is referred to, or its row.
SAYINGS = [None, ("?", True), ("a", False), ("b", False)]
# What the first two extracts said: nothing, an inferred row, one that its row completed, a row.
PASTS = [(None, None), (("?", True), None), (("?", True), ("a", False)), (("a", False), ("a", False))]


@pytest.mark.parametrize("is_quiet", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_extracts_that_failed_to_be_recorded_are_applied_again_to_the_same_end(
    make_project, capsys, is_quiet: bool
) -> None:
    """Quiet are the keys of which the last two extracts only complete an inferred row: no version begins or ends."""
    stories = [past + rest for past in PASTS for rest in itertools.product(SAYINGS, SAYINGS)]
    quiet = [(("?", True), None, first, ("a", False)) for first in (None, ("?", True), ("a", False))]
    rows = [
        (key, *said, number, T[number])
        for key, story in enumerate(quiet if is_quiet else stories)
        for number, said in enumerate(story)
        if said is not None
    ]
    rows += [(1000, "always", False, 0, at) for at in [*T, *LATER]]
    project = make_project({f"models/dim_{run}.sql": MEMBERS for run in ("undisturbed", "killed")})
    project.load("extracts", "id int, name string, is_inferred boolean, size int, at timestamp", rows)

    def run(at: list[datetime], **variables: str) -> tuple[str, str, str]:
        return "run", "--vars", json.dumps({"at": ", ".join(f"timestamp '{time}'" for time in at), **variables})

    for times in [T[:2]] if is_quiet else [T[:1], T[1:2]]:
        project.succeed(*run(times))
    with failing_at(r"alter table \S+_killed set tblproperties"):
        project.fail(*run(T[2:]))
    assert project.sql("describe history {schema}.dim_killed limit 1")[0].operation == "MERGE"
    # Maintenance that comes between is of no load, whoever signs it.
    project.sql("optimize {schema}.dim_killed")
    project.succeed(*run(T[2:]))
    assert project.history("dim_killed") == project.history("dim_undisturbed")
    assert project.properties("dim_killed")["scd2.extracts"].endswith("2024-01-04 00:00:00")
    assert not project.dbt("run-operation", "undo_load", "--args", "{model: dim_killed, apply: true}").success
    assert "is a MERGE that its run did not record, and the last load did" in capsys.readouterr().out
    assert project.history("dim_killed") == project.history("dim_undisturbed")

    # A rebuild, or an inferred row alone, brings no new extract, and the next two extracts do not repeat it.
    selected = ["--select", "dim_killed"] if is_quiet else []
    project.sql("update {schema}.extracts set name = 'c' where name = 'a' and at = timestamp '2024-01-04'")
    project.succeed(*run(T[3:], scd2_rebuild_from=str(T[3])), *selected)
    project.sql("insert into {schema}.extracts values (1001, '?', true, 0, timestamp '2024-01-04')")
    for name in project.succeed(*run(T[3:]), *selected).values():
        assert name.message.startswith("MERGE 1 opened")
    project.succeed(*run(LATER), *selected)
    live = project.history("dim_killed", "id", "is_current and not is_deleted and not is_inferred")
    assert live == [(1000,)]
