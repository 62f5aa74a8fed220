"""A separate warehouse on which dbt runs in its own processes, as started by a user."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness import ROOT, session


class IsolatedWarehouse:
    """A separate warehouse and metastore on which dbt runs in its own processes."""

    def __init__(self, home: Path, target: str, **environment: str) -> None:
        self.home = home
        self.target = target
        self.environment = environment

    def start(
        self, *args: str, project: Path = ROOT, log: str = "logs", in_a_group: bool = False
    ) -> subprocess.Popen[str]:
        """Start dbt with a timeout; or `in_a_group`: in its own process group, as in a terminal."""
        paths = ["--project-dir", project, "--target-path", self.home / log, "--log-path", self.home / log]
        watched = [] if in_a_group else ["timeout", "1200"]
        return subprocess.Popen(
            [*watched, Path(sys.executable).with_name("dbt"), *args, "--target", self.target, *paths],
            start_new_session=in_a_group,
            env={
                **os.environ,
                "DBT_PROFILES_DIR": str(ROOT),
                "DELTA_SCD2_HOME": str(self.home),
                "DELTA_SCD2_SCHEMA": "dev",
                "DELTA_SCD2_SHUFFLE_PARTITIONS": "2",
                "SPARK_LOCAL_IP": "127.0.0.1",
                # Far from UTC, to expose times read in the wrong time zone.
                "TZ": "Asia/Kolkata",
                **self.environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def dbt(self, *args: str, project: Path = ROOT) -> tuple[int, str]:
        process = self.start(*args, project=project)
        output, _ = process.communicate()
        return process.returncode, output

    def succeed(self, *args: str, project: Path = ROOT) -> None:
        status, output = self.dbt(*args, project=project)
        assert status == 0, output[-5000:]

    def tables(self, schema: str) -> set[str]:
        return {path.name for path in (self.home / "warehouse" / f"{schema}.db").iterdir()}

    def table(self, name: str, schema: str = "dev_gold"):
        return session().read.format("delta").load(str(self.home / "warehouse" / f"{schema}.db" / name))
