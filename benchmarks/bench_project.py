"""A dbt project and a warehouse of their own for one benchmark, gone when it ends."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from harness import DbtProject, session  # noqa: E402


@contextmanager
def bench_project(schema: str, java_options: str | None = None, memory: str = "4g") -> Iterator[DbtProject]:
    """Yield a project in a schema that is empty; the options of the JVM are those of the target `dev` unless given."""
    with tempfile.TemporaryDirectory() as directory:
        os.environ["DELTA_SCD2_DRIVER_MEMORY"] = memory
        if java_options:
            os.environ["DELTA_SCD2_JAVA_OPTIONS"] = java_options
        yield project_in(Path(directory), schema)


def use_warehouse(directory: Path) -> None:
    """Let Spark, and the processes started from here, use the warehouse in a directory."""
    os.environ["DELTA_SCD2_HOME"] = str(directory / "home")
    os.environ["DELTA_SCD2_JARS"] = str(ROOT / ".spark" / "jars")
    # The harness leaves dbt's artifacts out; a project of a user's own has them.
    os.environ["DBT_WRITE_JSON"] = "true"


def project_in(directory: Path, schema: str) -> DbtProject:
    """A new project and its warehouse in a directory."""
    use_warehouse(directory)
    for name in ("home", "project"):
        (directory / name).mkdir()
    session().sql(f"create schema {schema}")
    return DbtProject(directory / "project", schema)
