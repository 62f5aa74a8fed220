"""Keep the state of main, and build the changes of a branch on a copy of it.

`keep` builds the project and stores its manifest and warehouse in `target/state`; CI runs it on
main. `fetch` downloads the state stored by CI. `build` restores the warehouse, and builds the
models that differ from the manifest and their dependents.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = "state.yml"
ARTIFACT = "state"
# Eager: a test that reads changed and unchanged models finds the latter in main's tables.
CHANGED = ("--select", "state:modified+", "--defer", "--indirect-selection", "eager")

# Variables that lead to tables which others share, and which no branch may write, or to a schema that
# main does not have.
SHARED = (
    "DELTA_SCD2_SCHEMA",
    "DELTA_SCD2_WAREHOUSE",
    "DELTA_SCD2_METASTORE_URL",
    "DELTA_SCD2_METASTORE_USER",
    "DBT_ENV_SECRET_METASTORE_PASSWORD",
)


class State:
    """The state of main in `target/state`, and the Spark home there to which it is restored."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.directory = project / "target" / "state"
        self.manifest = self.directory / "manifest.json"
        self.warehouse = self.directory / "warehouse.tar.gz"
        # The directory of the original warehouse: the embedded metastore stores absolute paths.
        self.made_in = self.directory / "made_in.txt"
        self.home = self.directory / "home"

    def keep(self) -> int:
        """Build the project in a new warehouse and keep it; return dbt's exit code."""
        # What was kept before stays until the build has succeeded.
        shutil.rmtree(self.directory / "target", ignore_errors=True)
        self._empty_home()
        code = self._dbt("build", "--target-path", str(self.directory / "target"))
        if code == 0:
            archive = shutil.make_archive(str(self.directory / "arriving"), "gztar", self.home)
            Path(archive).replace(self.warehouse)
            self.made_in.write_text(str(self.directory))
            # The last one: beside an older manifest, `make pr` would build too much, and never too little.
            shutil.copy(self.directory / "target" / "manifest.json", self.manifest)
        return code

    def fetch(self) -> int:
        """Download the state kept by the last successful CI run on main, if any."""
        query = ["--workflow", WORKFLOW, "--branch", "main", "--event", "push", "--status", "success", "--limit", "1"]
        listed = _gh("run", "list", *query, "--json", "databaseId", "--jq", ".[].databaseId")
        run = listed.stdout.strip()
        if not run:
            print(f"state: CI has kept no state of main {listed.stderr.strip()}".rstrip())
            return 0
        arriving = self.directory.with_name(f"{self.directory.name}_arriving")
        shutil.rmtree(arriving, ignore_errors=True)
        fetched = _gh("run", "download", run, "--name", ARTIFACT, "--dir", str(arriving))
        if fetched.returncode != 0:
            print(f"state: {fetched.stderr.strip()}")
            return 0
        shutil.rmtree(self.directory, ignore_errors=True)
        arriving.rename(self.directory)
        print(f"state: main as of run {run}")
        return 0

    def build(self, rebuild: bool) -> int:
        """Build the changes on a copy of the kept warehouse, or everything if there is none."""
        arguments = ["build"]
        if missing := self.why_unusable():
            print(f"pr: {missing}, so everything is built", flush=True)
            self._empty_home()
        else:
            shutil.rmtree(self.home, ignore_errors=True)
            shutil.unpack_archive(self.warehouse, self.home)
            arguments += [*CHANGED, "--state", str(self.directory)]
        if rebuild:
            arguments += ["--full-refresh", "--vars", "{scd2_discard_history: true}"]
        return self._dbt(*arguments)

    def why_unusable(self) -> str | None:
        """Why the tables of main cannot be restored here, or None if they can."""
        if not all(file.exists() for file in (self.manifest, self.warehouse, self.made_in)):
            return "there is no state of main in target/state (see `make state` and `make fetch-state`)"
        if (made_in := self.made_in.read_text()) != str(self.directory):
            return f"the state of main was made in {made_in} and its metastore holds that path"
        return None

    def _empty_home(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)

    def _dbt(self, *arguments: str) -> int:
        jars = ROOT / ".spark" / "jars"
        places = {"DBT_PROFILES_DIR": self.project, "DELTA_SCD2_HOME": self.home, "DELTA_SCD2_JARS": jars}
        environment = {name: value for name, value in os.environ.items() if name not in SHARED}
        environment |= {name: str(place) for name, place in places.items()}
        dbt = Path(sys.executable).with_name("dbt")
        with (
            subprocess.Popen([dbt, *arguments], cwd=self.project, env=environment) as process,
            _signals_left_to(process),
        ):
            return process.wait()


@contextmanager
def _signals_left_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Let dbt handle the signals: Ctrl-C reaches it anyway, and SIGTERM is forwarded."""
    answers = {signal.SIGINT: lambda *_: None, signal.SIGTERM: lambda *_: process.terminate()}
    before = {number: signal.signal(number, answer) for number, answer in answers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _gh(*arguments: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("gh") is None:
        return subprocess.CompletedProcess(
            arguments, 1, stdout="", stderr="(gh, GitHub's command line, is not installed)"
        )
    return subprocess.run(["gh", *arguments], capture_output=True, text=True, check=False)


def main(command: str) -> int:
    state = State(ROOT)
    if command == "keep":
        return state.keep()
    if command == "fetch":
        return state.fetch()
    return state.build(rebuild=os.environ.get("REBUILD") == "true")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
