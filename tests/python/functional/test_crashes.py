"""Runs that are killed at every stage of a load, or at any moment, lose and repeat nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crashing_run import POINTS
from disturbed import FILES, MORE_FILES
from harness import INVARIANTS, ROOT, DbtProject

MODEL = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='_commit_timestamp',
    sequence_by='_commit_version', surrogate_key='sequence', scd2_columns={'surrogate_key': 'sk'}
) }}
select * from ({{ delta_scd2.changes_since_last_run(target.schema ~ '.people') }})
"""
SCHEMA = f"""
version: 2
models:
  - name: dim_people
    data_tests: {INVARIANTS}
    columns: [{{name: sk, data_tests: [unique, not_null]}}]
"""
READ = """
import json
from harness import session
columns = "id, city, people_commit_version, is_current, is_deleted"
query = f"select {columns} from crash.dim_people order by id, effective_from"
print(json.dumps([list(row) for row in session().sql(query).collect()]))
"""
FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"
FIRST_ROWS = {1: "Bern", 9: "Chur", 10: "Visp"}


def commits(number: int) -> list[str]:
    """Two rows change, another goes, and a new one comes."""
    return [
        f"update crash.people set city = 'city {number}' where id in (1, {number + 10})",
        f"delete from crash.people where id = {number + 9}",
        f"insert into crash.people values ({number + 11}, 'new')",
    ]


def expected(rounds: int) -> list[list]:
    """What these commits, from version 2 of the source on, make of the first rows."""
    histories = {key: [[key, city, 1, True, False]] for key, city in FIRST_ROWS.items()}
    for number in range(rounds):
        version = 2 + 3 * number
        for key in (1, number + 10):
            histories[key][-1][3] = False
            histories[key].append([key, f"city {number}", version, True, False])
        histories[number + 9][-1][4] = True
        histories[number + 11] = [[number + 11, "new", version + 2, True, False]]
    return [row for key in sorted(histories) for row in histories[key]]


def python(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process group of its own, with the tables of a folder."""
    environment = {
        **os.environ,
        "DELTA_SCD2_HOME": str(home),
        "DBT_PROFILES_DIR": str(ROOT),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests" / "python")]),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment, cwd=home, start_new_session=True, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_killed_load_loses_and_repeats_nothing(tmp_path: Path) -> None:
    project = DbtProject(tmp_path / "project", "crash")
    project.write({"models/dim_people.sql": MODEL, "models/schema.yml": SCHEMA})

    def run(point: str, *statements: str) -> int:
        script = str(ROOT / "tests" / "python" / "crashing_run.py")
        print(point, flush=True)
        return python(tmp_path, script, str(project.directory), "crash", "dim_people", point, *statements).returncode

    rows = ", ".join(f"({key}, '{city}')" for key, city in FIRST_ROWS.items())
    assert (
        run(
            "none", f"create table crash.people (id int, city string) {FEED}", f"insert into crash.people values {rows}"
        )
        == 0
    )
    for number, point in enumerate(POINTS):
        assert run(point, *commits(number)) == -signal.SIGKILL
    assert run("none") == 0
    assert json.loads(python(tmp_path, "-c", READ).stdout.splitlines()[-1]) == expected(len(POINTS))


KILLS = 12


@pytest.mark.slow
def test_a_run_that_is_killed_at_any_moment_is_completed_by_the_next(tmp_path: Path) -> None:
    project = DbtProject(tmp_path / "project", "crash")
    project.write({**FILES, **MORE_FILES})
    script = str(ROOT / "tests" / "python" / "killed_runs.py")
    chance = random.Random(0)
    for number in range(KILLS):
        run = python(tmp_path, script, str(project.directory), "crash", str(chance.random()))
        assert run.returncode == -signal.SIGKILL, (number, run.stdout[-5000:], run.stderr[-5000:])
    run = python(tmp_path, script, str(project.directory), "crash", "none")
    assert run.returncode == 0, (run.stdout[-5000:], run.stderr[-5000:])
