"""A load of one dimension in a process of its own, beside dbt's snapshot: `make bench-cold`.

The processes take turns. Each starts Python, dbt, Java and Spark, loads one extract, and ends.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from bench_project import ROOT, project_in, use_warehouse
from contenders import ATTRIBUTES, MODEL, SNAPSHOT, make_extracts
from harness import DbtProject

COMMANDS = {"ours": ["run", "--select", "ours"], "dbt snapshot": ["snapshot", "--select", "dbt_snapshot"]}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--keys", type=int, nargs="+", default=[1_000, 100_000], help="sizes of the dimension")
    arguments.add_argument("--rounds", type=int, default=6, help="extracts after the first, each with 1 %% changed")
    arguments.add_argument("--output", type=Path, default=Path("target/bench/cold_start.json"))
    options = arguments.parse_args()

    options.output.parent.mkdir(parents=True, exist_ok=True)
    seconds: dict[int, dict[str, list[float]]] = {}
    for keys in options.keys:
        with tempfile.TemporaryDirectory() as directory:
            # Spark starts anew in each process, so the extracts are made in another one.
            with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as maker:
                maker.submit(make_warehouse, Path(directory), keys, options.rounds).result()
            seconds[keys] = measure(Path(directory), keys, options.rounds)
        options.output.write_text(json.dumps(seconds, indent=2) + "\n")
    report(seconds)
    print(f"\nwritten to {options.output}")


def make_warehouse(directory: Path, keys: int, rounds: int) -> None:
    project_in(directory, "bench")
    make_extracts(keys, [1.0] * rounds, skewed=False)


def measure(directory: Path, keys: int, rounds: int) -> dict[str, list[float]]:
    """The seconds of each process by command; those of the first load come first."""
    use_warehouse(directory)
    os.environ["DELTA_SCD2_SCHEMA"] = "bench"
    project = DbtProject(directory / "project", "bench")
    places = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT)]
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        ours = MODEL.replace("<plan>", "staged").replace("<more>", "")
        snapshot = SNAPSHOT.replace("<columns>", repr(ATTRIBUTES))
        for path, text in {"models/ours.sql": ours, "snapshots/dbt_snapshot.sql": snapshot}.items():
            project.write({path: text.replace("extract\n", f"extract_{number}\n")})
        for name in [*COMMANDS][:: -1 if number % 2 else 1]:
            started = time.perf_counter()
            subprocess.run([ROOT / ".venv" / "bin" / "dbt", "--quiet", *COMMANDS[name], *places], check=True)
            seconds[name].append(time.perf_counter() - started)
            print(f"{keys} keys, extract {number} of {rounds}, {name}: {seconds[name][-1]:.1f} s", flush=True)
    return seconds


def report(seconds: dict[int, dict[str, list[float]]]) -> None:
    print("\n| | first load | 1 % changed |\n| --- | --- | --- |")
    for keys, by_name in seconds.items():
        for name, taken in by_name.items():
            print(f"| {keys} keys, {name} | {taken[0]:.1f} | {statistics.median(taken[1:]):.1f} |")


if __name__ == "__main__":
    main()
