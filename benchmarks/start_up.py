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
    "": "what dbt asks of the catalog, and the load log",
    "seed": "statements of seeds",
    "model": "statements of models",
    "test": "statements of tests",
    "rest": "the rest: dbt itself, and Python models",
}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        (home / "jars").symlink_to(ROOT / ".spark" / "jars")
        builds = {}
        for name in ("first build", "second build"):
            print(f"{name} ...", flush=True)
            builds[name] = build(home)
    report(builds)


def build(home: Path) -> dict[str, tuple[float, int]]:
    """Seconds and statements of each part of a build on one thread, so that no two parts run at once."""
    environment = os.environ | {"DELTA_SCD2_HOME": str(home), "DBT_PROFILES_DIR": str(ROOT)}
    log = home / "logs" / "dbt.log"
    log.unlink(missing_ok=True)
    started = time.time()
    subprocess.run(
        [
            *(ROOT / ".venv" / "bin" / "dbt", "--quiet", "build", "--threads", "1", "--project-dir", ROOT),
            *("--target-path", home / "target", "--log-path", home / "logs"),
            *("--log-level-file", "debug", "--log-format-file", "json"),
        ],
        env=environment,
        check=True,
    )
    return parts_of([json.loads(line) for line in log.read_text().splitlines()], started, time.time())


def parts_of(events: list[dict[str, Any]], started: float, ended: float) -> dict[str, tuple[float, int]]:
    """What happens between an event and the next one belongs to the part that the event begins."""
    seconds: defaultdict[str, float] = defaultdict(float)
    statements: defaultdict[str, int] = defaultdict(int)
    moments = [datetime.fromisoformat(event["info"]["ts"]).timestamp() for event in events]
    seconds["start"] = moments[0] - started
    part = "parse"
    for event, begins, ends in zip(events, moments, [*moments[1:], ended], strict=True):
        name = event["info"]["name"]
        if name == "SQLQuery":
            part = event["data"].get("node_info", {}).get("resource_type", "")
            part = part if part in PARTS else ""
            statements[part] += 1
        elif name == "NewConnectionOpening" and "session" not in seconds:
            part = "session"
        elif name in ("FoundStats", "SQLQueryStatus", "NodeFinished"):
            part = "rest"
        seconds[part] += ends - begins
    return {part: (seconds[part], statements[part]) for part in PARTS}


def report(builds: dict[str, dict[str, tuple[float, int]]]) -> None:
    """The table of benchmarks/README.md."""
    print("\n| | " + " | ".join(f"{name}, seconds | statements" for name in builds) + " |")
    print("|" + " --- |" * (2 * len(builds) + 1))
    for part, title in PARTS.items():
        figures = [f"{build[part][0]:.1f} | {build[part][1] or ''}" for build in builds.values()]
        print(f"| {title} | {' | '.join(figures)} |")
    totals = [f"{sum(s for s, _ in build.values()):.1f} | " for build in builds.values()]
    print(f"| all | {' | '.join(totals)} |")


if __name__ == "__main__":
    main()
