"""Build the demo, apply the next changes of the shop's products, and print what came of both.

Both builds run in one process, so Spark starts once. dbt prints warnings and errors; its log keeps
everything.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

from dbt_spark_session import signals

# Materializations that get a line for each node. The others are counted.
SHOWN = ("scd1", "scd2", "snapshot", "incremental")
NEXT = {
    ".venv/bin/delta-scd2 history dim_airport --key icao=KNTD": "the versions of one key",
    "make report": "all dimensions and their loads, as pages in target/report",
    "make docs": "models, columns and their lineage, as a site in target/site",
}


class Build:
    """Both builds of the demo, and what they print.

    Args:
        places: Options of every dbt command, such as `--project-dir`.
        selection: Options of every build, such as `--exclude`.
    """

    def __init__(self, places: Sequence[str] = (), selection: Sequence[str] = ()) -> None:
        self._places = places
        self._selection = selection
        self._results: list[Any] = []
        self._has_begun = False
        has_colors = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._flags = ["--use-colors" if has_colors else "--no-use-colors"]
        self._flags += ["--log-level", "warn", "--log-level-file", "debug"]

    def run(self) -> int:
        """Build, print the outcome, and return the exit code."""
        began = time.monotonic()
        _say("build: dbt reads the project and starts Spark")
        is_built = self._build()
        if is_built:
            _say("build: the next changes of the shop's products")
            is_built = self._build("--select", "shop_products+")
        seconds = f"{time.monotonic() - began:.0f} s"
        _say(f"build: {'done' if is_built else 'failed'} in {seconds}: {counts_text(self._results)}")
        # Another `run_results.json` would take from `dbt retry` what the builds left there.
        is_shown = is_built and self._dbt("run-operation", "print_build", "--no-write-json").success
        _say(f"log: {self._log()}, with every statement and every test")
        if is_shown:
            _say("next:")
            for command, shows in NEXT.items():
                _say(f"  {command:<58}{shows}")
        return 0 if is_shown else 1

    def _build(self, *selection: str) -> bool:
        # One table follows both builds.
        ended = self._dbt("build", "--no-print", *selection, *self._selection)
        self._results += getattr(ended.result, "results", [])
        return bool(ended.success)

    def _dbt(self, *arguments: str) -> Any:
        return dbtRunner(callbacks=[self._on_event]).invoke([*arguments, *self._flags, *self._places])

    def _on_event(self, event: Any) -> None:
        if event.info.name == "NodeStart" and not self._has_begun:
            self._has_begun = True
            _say("build: Spark runs; seeds, staging views and their tests come first")
        if event.info.name == "NodeFinished" and event.data.node_info.materialized in SHOWN:
            result = event.data.run_result
            if result.status == "success":
                message = re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", result.message)
                _say(f"  {event.data.node_info.node_name:<15}  {message}  ({result.execution_time:.0f} s)")

    def _log(self) -> Path:
        places = dict(zip(self._places, self._places[1:], strict=False))
        return Path(places.get("--log-path", os.environ.get("DBT_LOG_PATH", "logs")), "dbt.log")


def counts_text(results: Sequence[Any]) -> str:
    """How many nodes came to which end, as a text."""
    counts = Counter(_end(result) for result in results)
    told = []
    for end in ("built", "failed", "tests passed", "with warnings", "tests failed", "skipped"):
        if counts[end]:
            told.append(f"{counts[end]:,} {end if counts[end] > 1 else end.replace('tests', 'test')}")
    return ", ".join(told) or "nothing was built"


def _end(result: Any) -> str:
    return {
        "success": "hooks" if result.node.resource_type == "operation" else "built",
        "pass": "tests passed",
        "warn": "with warnings",
        "skipped": "skipped",
        "no-op": "not built",
    }.get(result.status, "tests failed" if result.node.resource_type == "test" else "failed")


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    # Like the command `dbt`, this leaves loads whole if it is stopped.
    signals.take_over()
    sys.exit(Build().run())
