"""Two dbt runs in their own process: one completes what was killed before, the other is killed at a random moment.

Arguments: the project directory, its schema, and the share of a run after which it is killed, or `none`.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from crashing_run import kill
from disturbed import EVERYONE, change, check_completed, commits, copied, create_people, expected, extracts_loaded
from harness import DbtProject, session


def main(directory: str, schema: str, share: str) -> None:
    project = DbtProject(Path(directory), schema)
    if session().catalog.databaseExists(schema):
        check_killed(project)
    else:
        create_people(project)
    began = time.monotonic()
    project.succeed("run")
    duration = time.monotonic() - began
    check_completed(project)
    if share == "none":
        check_undisturbed(project)
        return
    change(project, commits(project))
    threading.Timer(float(share) * duration, kill).start()
    project.succeed("run")
    kill()


def check_killed(project: DbtProject) -> None:
    """Each table holds all of the last commit or nothing of it; only what is written beside it may differ."""
    choice = {commits(project) - 1, commits(project)}
    versions = project.history("dim_people", "id, city, people_commit_version, is_current")
    assert versions in [expected(number) for number in choice]
    for name in EVERYONE:
        assert extracts_loaded(project, name) in choice, name
    rows, ordinals = copied(project)
    assert {rows, ordinals} <= choice
    assert rows <= ordinals
    assert project.staged() == []


def check_undisturbed(project: DbtProject) -> None:
    """The history is that of runs that nothing disturbed, one after each commit, and another run adds nothing to it."""
    every = [row[:2] for row in expected(commits(project))]
    for name in EVERYONE:
        assert project.history(name, "id, city") == every, name
    project.succeed("test")
    tables = ("dim_people", "dim_people__events", *EVERYONE, "copy_people", "copy_people__ordinals")
    versions = [project.version(table) for table in tables]
    project.succeed("run")
    assert [project.version(table) for table in tables] == versions


if __name__ == "__main__":
    main(*sys.argv[1:])
