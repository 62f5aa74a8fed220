"""Ctrl-C, SIGTERM and --fail-fast stop what runs; each load is whole, or has written nothing, and is in the log."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from disturbed import (
    DIMENSIONS,
    FILES,
    MORE_FILES,
    PEOPLE,
    change,
    check_completed,
    commits,
    commits_loaded,
    create_people,
    loaded,
    people,
    unlogged,
)
from harness import ROOT, STAGES, DbtProject, tuples
from isolated_warehouse import IsolatedWarehouse
from stopping import as_the_command, at, stop_by

NOW = """
{{ config(materialized='table') }}
select id, city from {{ ref('dim_people') }} where is_current
"""
# A task that sleeps for minutes, and Python that goes on after any error.
SLEEPS = """
{{ config(materialized='scd2', unique_key='id') }}
select id, reflect('java.util.concurrent.locks.LockSupport', 'parkNanos', 300000000000) as slept from range(3)
"""
LOOPS = """
import time
from pathlib import Path


def model(dbt, session):
    dbt.config(materialized="table")
    while True:
        try:
            Path("<begun>").touch()
            time.sleep(0.1)
        except Exception:
            continue
    return session.range(1)
"""
# Breaks while the task above sleeps, and needs no core for it.
BREAKS = """
import time


def model(dbt, session):
    dbt.config(materialized="table")
    tracker = session.sparkContext.statusTracker()
    jobs, deadline = None, time.monotonic() + 60
    while (not jobs or jobs != tracker.getActiveJobsIds()) and time.monotonic() < deadline:
        jobs = tracker.getActiveJobsIds()
        time.sleep(2)
    raise RuntimeError("broken")
    return session.range(1)
"""


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    project = make_project({**FILES, "models/slow/sleeps.sql": SLEEPS, "models/slow/breaks.py": BREAKS})
    create_people(project)
    project.succeed("run", "--exclude", "slow")
    return project


STOPS = [
    ("before", "merge into {schema}.dim_people ", signal.SIGTERM, False),
    ("in its stead", "merge into {schema}.dim_people ", signal.SIGINT, False),
    ("as it ends", "merge into {schema}.dim_people ", signal.SIGTERM, True),
    ("after", "merge into {schema}.dim_people ", signal.SIGINT, True),
    ("before", "insert into {schema}.scd2_loads", signal.SIGINT, True),
]
# Farther from the commit.
MORE_STOPS = [
    ("before", "keeps rows as {schema}__dim_people__scd2_compared", signal.SIGINT, False),
    ("after", "insert into {schema}.dim_people__events ", signal.SIGTERM, True),
]


@pytest.mark.parametrize("stops", [STOPS, pytest.param(MORE_STOPS, marks=pytest.mark.slow)], ids=["some", "more"])
def test_a_load_that_is_stopped_is_whole_or_has_written_nothing_and_is_logged(
    project: DbtProject, stops: list[tuple[str, str, signal.Signals, bool]], capsys
) -> None:
    number = commits_loaded(project)
    for point, text, how, is_loaded in stops:
        before = commits_loaded(project)
        change(project, number)
        number += 1
        capsys.readouterr()
        with as_the_command(), at(point, text.replace("{schema}", project.schema), partial(stop_by, how)):
            result = project.dbt("run", "--exclude", "slow")
        printed = "".join(capsys.readouterr())
        assert "Traceback" not in printed, printed
        assert isinstance(result.exception, KeyboardInterrupt)
        assert commits_loaded(project) == (number if is_loaded else before), (point, text)
        assert unlogged(project) == set()
        assert project.staged() == []
        last = project.sql("select status, delta_version, message from {schema}.scd2_loads order by started_at desc")[0]
        assert (last[0] == "success", last[1] is not None) == (is_loaded, is_loaded), last
        assert is_loaded or "the run was stopped" in last[2]
    change(project, number)
    project.succeed("run", "--exclude", "slow")
    assert commits_loaded(project) == number + 1


@pytest.mark.parametrize(("point", "is_made"), [("in its stead", False), ("as it ends", True)])
def test_a_first_load_that_spark_calls_cancelled_is_there_if_it_was_committed(
    project: DbtProject, point: str, is_made: bool
) -> None:
    name = f"dim_first_{int(is_made)}"
    project.write({f"models/{name}.sql": PEOPLE})
    first_load = f"create or replace table {project.schema}.{name}"
    with as_the_command(), at(point, first_load, partial(stop_by, signal.SIGINT)):
        project.dbt("run", "--select", name)
    tables = {name, f"{name}__events"}
    assert tables & project.relations() == (tables if is_made else set())
    if is_made:
        events = project.sql(f"select id, city from {{schema}}.{name}__events order by id")
        assert events == project.sql("select id, city from {schema}.people order by id")
    (project.directory / f"models/{name}.sql").unlink()


def test_the_next_run_logs_what_a_killed_one_did_not(project: DbtProject) -> None:
    loads = "select invocation_id from {schema}.scd2_loads where model = 'dim_people' and delta_version is not null"
    # The loads of the tests before do as well; the first one was no MERGE.
    while len(runs := [row[0] for row in project.sql(f"{loads} order by started_at desc")]) < 3:
        change(project, commits_loaded(project))
        project.succeed("run", "--select", "dim_people")
    newest = project.sql("describe history {schema}.dim_people")
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


def test_fail_fast_and_a_signal_stop_statements_and_python_that_run(project: DbtProject, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    project.write({"models/slow/loops.py": LOOPS.replace("<begun>", str(begun))})

    def stop_the_loop() -> None:
        deadline = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGTERM)

    began = time.monotonic()
    result = project.dbt("run", "--fail-fast", "--select", "sleeps", "breaks")
    assert not result.success
    sleeps = next(r for r in result.result.results if r.node.name == "sleeps")
    assert sleeps.status == "error"
    assert "the run was stopped" in sleeps.message
    assert "broken" in next(r for r in result.result.results if r.node.name == "breaks").message
    with as_the_command():
        threading.Thread(target=stop_the_loop, daemon=True).start()
        assert isinstance(project.dbt("run", "--select", "loops").exception, KeyboardInterrupt)
    assert time.monotonic() - began < 240
    assert not {"sleeps", "loops"} & project.relations()


@pytest.mark.parametrize(
    ("how", "whole_group"),
    [(signal.SIGINT, True), pytest.param(signal.SIGTERM, False, marks=pytest.mark.slow)],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_process_that_is_stopped_ends_without_a_traceback(
    how: signal.Signals, whole_group: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    project = DbtProject(tmp_path_factory.mktemp("project"), "dev")
    project.write({name: text for name, text in FILES.items() if name != "models/dim_people.sql"})
    project.write({"models/sleeps.sql": SLEEPS})
    place = IsolatedWarehouse(home, "dev", DELTA_SCD2_JARS=str(ROOT / ".spark" / "jars"))
    process = place.start("run", "--select", "sleeps", project=project.directory, in_a_group=True)
    log = home / "logs" / "dbt.log"
    staging = STAGES.format(schema="dev", model="sleeps", step="rows")
    while not (log.exists() and staging in log.read_text()):
        assert process.poll() is None
        time.sleep(0.2)
    began = time.monotonic()
    (os.killpg if whole_group else os.kill)(process.pid, how)
    output, _ = process.communicate()
    # The tasks sleep for longer.
    assert time.monotonic() - began < 240
    assert process.returncode == 2, output
    assert f"the run was stopped by {'Ctrl-C' if how == signal.SIGINT else 'SIGTERM'}" in output
    assert not re.search(r"Traceback|Exception|^\s+at ", output, re.MULTILINE), output
    loads = place.table("scd2_loads", schema="dev").select("model", "status", "delta_version").collect()
    assert tuples(loads) == [("sleeps", "error", None)]
    assert not (home / "warehouse" / "dev.db" / "sleeps").exists()


ROUNDS = 200


@pytest.mark.slow
def test_a_run_that_is_stopped_at_any_moment_leaves_nothing_half_done(project: DbtProject, capsys) -> None:
    project.write({**MORE_FILES, "models/people_now.sql": NOW})
    # The first runs are slow, and most signals would come after the end of a run that takes as long.
    for _ in range(4):
        change(project, commits(project))
        began = time.monotonic()
        project.succeed("run", "--exclude", "slow")
        duration = time.monotonic() - began
    chance = random.Random(0)
    for number in range(ROUNDS):
        before = loaded(project)
        total = commits(project) + 1
        change(project, total - 1)
        capsys.readouterr()
        how = chance.choice([signal.SIGINT, signal.SIGTERM])
        with as_the_command():
            timer = threading.Timer(chance.uniform(0, duration), os.kill, [os.getpid(), how])
            timer.start()
            # A signal that comes before dbt or after it is one of Python.
            with suppress(KeyboardInterrupt):
                project.dbt("run", "--exclude", "slow")
            with suppress(KeyboardInterrupt):
                timer.join()
        printed = "".join(capsys.readouterr())
        assert "Traceback" not in printed, (number, printed)
        for name, held in loaded(project).items():
            assert held in (before[name], total), (number, name)
        for name in DIMENSIONS:
            assert unlogged(project, name) == set(), (number, name)
        assert project.staged() == [], number
    project.succeed("run", "--exclude", "slow")
    check_completed(project)
    assert tuples(project.sql("select id, city from {schema}.people_now order by id")) == people(commits(project))
    project.succeed("test")
