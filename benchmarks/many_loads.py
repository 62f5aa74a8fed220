"""Many small loads of one dimension: whether the time of a load and the number of files stay flat."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from bench_project import bench_project
from harness import DbtProject

# The table as a first load makes it, and one whose small files Delta joins.
OPTIONS = {"default": "", "compacted": ", tblproperties={'delta.autoOptimize.autoCompact': 'true'}"}
MODEL = """
{{ config(materialized='scd2', unique_key='id', scd2_columns={'surrogate_key': 'sk'}<more>) }}
select
    id,
    concat('name ', id) as name,
    -- every load changes one key in a hundred
    (id + {{ var('load') }}) div 100 as status
from range({{ var('keys') }})
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--keys", type=int, default=10_000)
    arguments.add_argument("--loads", type=int, default=200)
    arguments.add_argument("--output", type=Path, default=Path("target/bench/many_loads.json"))
    options = arguments.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with bench_project("bench", java_options="-XX:+UseParallelGC") as project:
        for result in measure(project, options.keys, options.loads):
            options.output.write_text(json.dumps(result) + "\n")
    report(result)
    print(f"\nwritten to {options.output}")


def measure(project: DbtProject, keys: int, loads: int) -> Iterator[dict[str, dict[str, list[float]]]]:
    """The seconds of every load after the first, and the files of the table after it, by kind of table; so far."""
    for name, more in OPTIONS.items():
        project.write({f"models/dim_{name}.sql": MODEL.replace("<more>", more)})
    result: dict[str, dict[str, list[float]]] = {name: {"seconds": [], "files": []} for name in OPTIONS}
    for load in range(loads + 1):
        variables = json.dumps({"load": load, "keys": keys})
        results = project.succeed("run", "--quiet", "--threads", "1", "--vars", variables)
        for name, measured in result.items():
            files = project.sql(f"describe detail {{schema}}.dim_{name}")[0]["numFiles"]
            if load:
                measured["seconds"].append(results[f"dim_{name}"].execution_time)
                measured["files"].append(files)
        if load % 10 == 0 or load == loads:
            latest = [(name, m["seconds"][-1:], m["files"][-1:]) for name, m in result.items()]
            print(f"load {load} of {loads}: {latest}", flush=True)
            yield result


def report(result: dict[str, dict[str, list[float]]]) -> None:
    """Medians of the first and the last tenth of the loads."""
    print("\n| | seconds, first loads | last loads | files, first loads | last loads |\n|" + " --- |" * 5)
    for name, measured in result.items():
        tenth = max(len(measured["seconds"]) // 10, 1)
        figures = [
            f"{statistics.median(part):.1f}"
            for what in ("seconds", "files")
            for part in (measured[what][:tenth], measured[what][-tenth:])
        ]
        print(f"| {name} | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()
