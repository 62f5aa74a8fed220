"""Where the time of a build of the demo goes, in an empty warehouse and once more: `make bench-start-up`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PARTS = {
    "start": "Python and dbt start",
    "parse": "dbt reads the project",
    "session": "the Spark session starts",
    "catalog": "what dbt asks of the catalog, and the load log",
    "seed": "seeds",
    "model": "models",
    "python": "the Python code of Python models",
    "test": "tests",
    "rest": "between nodes, and dbt's end",
}
# What dbt builds, by the part that it counts to.
RESOURCES = {
    "seed": "seed",
    "model": "model",
    "snapshot": "model",
    "test": "test",
    "unit_test": "test",
    # Hooks at the start and the end of the build.
    "operation": "catalog",
}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        builds = {}
        for name in ("first build", "second build"):
            print(f"{name} ...", flush=True)
            builds[name] = parts_of(*build(home, threads=1))
        print("third build, on two threads ...", flush=True)
        _, started, ended = build(home, threads=2)
    report(builds)
    print(f"\na third build, on two threads: {ended - started:.1f} seconds")


def build(home: Path, threads: int) -> tuple[list[dict[str, Any]], float, float]:
    """The events of a build, and when it began and ended; on one thread no two parts of it run at once."""
    places = {"DBT_PROFILES_DIR": ROOT, "DELTA_SCD2_HOME": home, "DELTA_SCD2_JARS": ROOT / ".spark" / "jars"}
    environment = os.environ | {name: str(place) for name, place in places.items()}
    log = home / "logs" / "dbt.log"
    log.unlink(missing_ok=True)
    started = time.time()
    subprocess.run(
        [
            *(ROOT / ".venv" / "bin" / "dbt", "--quiet", "build", "--threads", str(threads), "--project-dir", ROOT),
            *("--target-path", home / "target", "--log-path", home / "logs"),
            *("--log-level-file", "debug", "--log-format-file", "json"),
        ],
        env=environment,
        check=True,
    )
    return [json.loads(line) for line in log.read_text().splitlines()], started, time.time()


def parts_of(events: list[dict[str, Any]], started: float, ended: float) -> dict[str, tuple[float, int]]:
    """What happens between an event and the next one belongs to the part that the event begins."""
    seconds: defaultdict[str, float] = defaultdict(float)
    statements: defaultdict[str, int] = defaultdict(int)
    times = [datetime.fromisoformat(event["info"]["ts"]).timestamp() for event in events]
    seconds["start"] = times[0] - started
    part, node = "parse", ""
    for event, begins, ends in zip(events, times, [*times[1:], ended], strict=True):
        name = event["info"]["name"]
        if name == "NodeStart":
            part = node = RESOURCES[event["data"]["node_info"]["resource_type"]]
        elif name == "NodeFinished":
            part, node = "rest", ""
        elif name == "NewConnectionOpening" and "session" not in seconds:
            part = "session"
        elif name == "CodeExecution":
            part = "python"
        elif name == "CodeExecutionStatus":
            part = node
        elif name == "SQLQuery":
            part = node or "catalog"
            statements[part] += 1
        seconds[part] += ends - begins
    return {part: (seconds[part], statements[part]) for part in PARTS}


def report(builds: dict[str, dict[str, tuple[float, int]]]) -> None:
    """Print the seconds and the statements of each part."""
    print("\n| | " + " | ".join(f"{name}, seconds | statements" for name in builds) + " |")
    print("|" + " --- |" * (2 * len(builds) + 1))
    for part, title in PARTS.items():
        figures = [f"{build[part][0]:.1f} | {build[part][1] or ''}" for build in builds.values()]
        print(f"| {title} | {' | '.join(figures)} |")
    totals = [f"{sum(s for s, _ in build.values()):.1f} | " for build in builds.values()]
    print(f"| all | {' | '.join(totals)} |")


if __name__ == "__main__":
    main()
