"""A load of one dimension in a process of its own, beside dbt's snapshot: `make bench-cold`.

The processes take turns. Each starts Python, dbt, Java and Spark, loads one extract, and ends.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bench_project import ROOT, project_in
from contenders import ATTRIBUTES, MODEL, SNAPSHOT, make_extracts

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
            maker = multiprocessing.get_context("spawn").Process(
                target=make_warehouse, args=(Path(directory), keys, options.rounds)
            )
            maker.start()
            maker.join()
            seconds[keys] = measure(Path(directory), keys, options.rounds)
        options.output.write_text(json.dumps(seconds, indent=2) + "\n")
    report(seconds)
    print(f"\nwritten to {options.output}")


def make_warehouse(directory: Path, keys: int, rounds: int) -> None:
    project_in(directory, "bench")
    make_extracts(keys, [1.0] * rounds, skewed=False)


def measure(directory: Path, keys: int, rounds: int) -> dict[str, list[float]]:
    """The seconds of each process by command; those of the first load come first."""
    project, dbt = directory / "project", ROOT / ".venv" / "bin" / "dbt"
    environment = os.environ | {
        "DELTA_SCD2_HOME": str(directory / "home"),
        "DELTA_SCD2_JARS": str(ROOT / ".spark" / "jars"),
        "DELTA_SCD2_SCHEMA": "bench",
    }
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        extract = f"extract_{number}"
        ours = MODEL.replace("<plan>", "staged").replace("<more>", "")
        (project / "models").mkdir(exist_ok=True)
        (project / "snapshots").mkdir(exist_ok=True)
        (project / "models" / "ours.sql").write_text(ours.replace("extract\n", extract + "\n"))
        snapshot = SNAPSHOT.replace("<columns>", repr(ATTRIBUTES)).replace("extract\n", extract + "\n")
        (project / "snapshots" / "dbt_snapshot.sql").write_text(snapshot)
        for name in [*COMMANDS][:: -1 if number % 2 else 1]:
            started = time.perf_counter()
            places = ["--project-dir", str(project), "--profiles-dir", str(ROOT)]
            subprocess.run([str(dbt), "--quiet", *COMMANDS[name], *places], env=environment, check=True)
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
