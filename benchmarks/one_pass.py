"""Many full extracts in one run against one run an extract, on the same rows: `make bench-one-pass`."""

from __future__ import annotations

import argparse
import sys
import time

from bench_project import bench_project
from harness import DbtProject, session

MODEL = """
{{ config(materialized='scd2', unique_key='id', effective_at='extracted_at', scd2_columns={'surrogate_key': 'sk'}) }}
select * from {{ target.schema }}.extracts
"""

# From one extract to the next about 1 % of the keys change, and 0.1 % are absent.
EXTRACT = """
select
    id,
    concat('name ', id) as name,
    hash(id, 'city') % 500 as city,
    hash(id, cast((extract + hash(id) % 100) / 100 as int)) % 9 as status,
    timestamp '2024-01-01' + make_interval(0, 0, 0, extract) as extracted_at
from (select id, {extract} as extract from range({keys}))
where abs(hash(id, extract)) % 1000 > 0
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--extracts", type=int, default=50)
    arguments.add_argument("--keys", type=int, default=20_000)
    options = arguments.parse_args()

    with bench_project("bench") as project:
        measure(project, options.extracts, options.keys)


def measure(project: DbtProject, extracts: int, keys: int) -> None:
    project.write({"models/dim_once.sql": MODEL, "models/dim_daily.sql": MODEL})

    def load(numbers: range) -> None:
        query = " union all ".join(EXTRACT.format(extract=number, keys=keys) for number in numbers)
        session().sql("drop table if exists bench.extracts")
        session().sql(f"create table bench.extracts using delta as {query}")

    def run(model: str) -> float:
        started = time.perf_counter()
        project.succeed("run", "--quiet", "--select", model)
        return time.perf_counter() - started

    load(range(1))
    run("dim_once")
    session().sql("drop table bench.dim_once")
    daily = 0.0
    for number in range(extracts):
        load(range(number, number + 1))
        daily += run("dim_daily")
        print(f"run {number + 1} of {extracts}: {daily:.0f} s so far", flush=True)
    load(range(extracts))
    once = run("dim_once")

    columns = ["id", "name", "city", "status", "effective_from", "effective_to", "is_current", "is_deleted", "sk"]
    once_rows = session().table("bench.dim_once").select(columns)
    daily_rows = session().table("bench.dim_daily").select(columns)
    rows = once_rows.count()
    differences = once_rows.exceptAll(daily_rows).count() + daily_rows.exceptAll(once_rows).count()
    if differences:
        sys.exit(f"the two tables differ in {differences} rows")
    print(f"{extracts} extracts of {keys} rows, {rows} versions, the same in both tables")
    print(f"one run an extract: {daily:.1f} s; one run for all: {once:.1f} s; ratio {daily / once:.1f}")


if __name__ == "__main__":
    main()
