"""What a run costs against the rows that changed and those that did not, for each `source_kind`."""

from __future__ import annotations

import argparse
import statistics
import sys

from bench_project import bench_project
from harness import DbtProject, session

OPTIONS = {
    "snapshot": "",
    "increment": "source_kind='increment', effective_at='changed_at',",
    "changelog": "source_kind='changelog', effective_at='_commit_timestamp', sequence_by='_commit_version',",
}
CONFIG = "{{ config(materialized='scd2', unique_key='id', <options> scd2_columns={'surrogate_key': 'sk'}<more>) }}\n"
QUERIES = {
    "snapshot": "select * except (changed_at) from {{ target.schema }}.items",
    "increment": """
select * from {{ target.schema }}.items
{% if load_relation(this) is not none %}
where changed_at > (select max(effective_from) from {{ this }})
{% endif %}
""",
    "changelog": """
select * except (changed_at)
from ({{ delta_scd2.changes_since_last_run(target.schema ~ '.items') }})
""",
}
ITEMS = """
create table bench.items using delta tblproperties (delta.enableChangeDataFeed = true) as
select
    id,
    concat('name ', id) as name,
    hash(id, 'city') % 500 as city,
    0 as status,
    cast(hash(id, 'price') % 10000 as decimal(10, 2)) as price,
    concat('street ', hash(id, 'street') % 100000) as street,
    date '2020-01-01' + cast(abs(hash(id, 'since')) % 1000 as int) as since,
    sha2(cast(id as string), 256) as reference,
    current_timestamp() as changed_at
from range({rows})
"""
CHANGE = """
update bench.items set status = status + 1, changed_at = current_timestamp()
where abs(xxhash64(id, {round})) % {rows} < {changed}
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, nargs="+", default=[20_000, 2_000_000], help="sizes of the table")
    arguments.add_argument(
        "--changed",
        type=int,
        nargs="+",
        default=[200, 20_000, 1_000_000],
        help="how many rows change, about, spread over the table; in a table of twice as many at least",
    )
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--options", default="", help="more options of every model, as Jinja")
    options = arguments.parse_args()

    medians: dict[tuple[int, int], dict[str, float]] = {}
    # For millions of rows, Java's optimising compiler earns what it costs.
    with bench_project("bench", java_options="-XX:+UseParallelGC", memory="12g") as project:
        for kind, query in QUERIES.items():
            more = f", {options.options}" if options.options else ""
            config = CONFIG.replace("<options>", OPTIONS[kind]).replace("<more>", more)
            project.write({f"models/dim_{kind}.sql": config + query})
        for rows in sorted(options.rows):
            for changed, seconds in measure(project, rows, options.changed, options.rounds).items():
                medians[rows, changed] = seconds
            project.drop()
            session().sql("create schema bench")
    report(medians)


def measure(project: DbtProject, rows: int, counts: list[int], rounds: int) -> dict[int, dict[str, float]]:
    """The median seconds of each model by the number of rows that changed."""
    session().sql(ITEMS.format(rows=rows))

    def run() -> dict[str, float]:
        """The seconds of each model, one after another."""
        results = project.succeed("run", "--quiet", "--threads", "1")
        return {kind: results[f"dim_{kind}"].execution_time for kind in QUERIES}

    print(f"{rows} rows; first load: {run()}", flush=True)
    medians: dict[int, dict[str, float]] = {}
    number = 0
    for changed in counts:
        if changed * 2 > rows:
            continue
        times = []
        for _ in range(rounds):
            number += 1
            session().sql(CHANGE.format(round=number, rows=rows, changed=changed))
            times.append(run())
            print(f"{rows} rows, {changed} changed, round {len(times)} of {rounds}: {times[-1]}", flush=True)
        medians[changed] = {kind: statistics.median(time[kind] for time in times) for kind in QUERIES}

    live = "select id, status from bench.dim_{} where is_current"
    for kind in QUERIES:
        if session().sql(f"select id, status from bench.items except {live.format(kind)}").count():
            sys.exit(f"dim_{kind} does not hold the current rows")
    return medians


def report(medians: dict[tuple[int, int], dict[str, float]]) -> None:
    """Print a table of medians."""
    print("\n| rows | changed | " + " | ".join(QUERIES) + " |\n|" + " --- |" * (len(QUERIES) + 2))
    for (rows, changed), seconds in medians.items():
        figures = " | ".join(f"{seconds[kind]:.1f} s" for kind in QUERIES)
        print(f"| {rows:,} | {changed:,} | {figures} |")


if __name__ == "__main__":
    main()
