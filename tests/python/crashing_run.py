"""A dbt run in its own process that kills itself and its Spark at a point in one model's load.

Arguments: the project directory, its schema, the model, the point, and SQL to run first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from dbt.adapters.spark.session import Cursor

from harness import DbtProject, session

POINTS = ["before_merge", "within_merge", "after_merge", "after_events"]


def main(directory: str, schema: str, model: str, point: str, *statements: str) -> None:
    session().sql(f"create schema if not exists {schema}")
    for statement in statements:
        session().sql(statement)
    if point in POINTS:
        crash_at(point, schema, model)
    project = DbtProject(Path(directory), schema)
    project.succeed("run")
    project.succeed("test")


def crash_at(point: str, schema: str, model: str) -> None:
    execute = Cursor.execute
    warehouse = session().conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    table = Path(warehouse) / f"{schema}.db" / model

    def crashing(cursor: Cursor, sql: str, *parameters: object) -> None:
        merges = f"merge into {schema}.{model} " in sql
        remembers = f"insert into {schema}.{model}__events " in sql
        if merges and point == "before_merge":
            kill()
        if merges and point == "within_merge":
            threading.Thread(target=kill_when_files_appear, args=[table], daemon=True).start()
        execute(cursor, sql, *parameters)
        if (merges and point == "after_merge") or (remembers and point == "after_events"):
            kill()

    Cursor.execute = crashing


def kill_when_files_appear(table: Path) -> None:
    """Kill the process between the writing and the commit of a MERGE's files."""
    before = set(table.glob("*.parquet"))
    while set(table.glob("*.parquet")) == before:
        time.sleep(0.001)
    kill()


def kill() -> None:
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
