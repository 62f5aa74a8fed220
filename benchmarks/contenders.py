"""A full extract into a dimension: ours beside dbt's snapshot, MERGEs written by hand, and the floor.

`make bench` takes one small dimension, `make bench-full` several, up to millions of keys. Results go to a JSON file,
which `plots.py` draws.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench_project import bench_project
from harness import DbtProject, session

ATTRIBUTES = ["name", "city", "status", "price", "street", "since", "reference", "category"]
# Out of 100,000 keys, each extract.
NEW, GONE = 100, 100

EXTRACT = """
create or replace table bench.extract_{number} using delta as
select
    id,
    concat('name ', id) as name,
    hash(id, 'city') % 500 as city,
    {changes} as status,
    cast(hash(id, 'price') % 10000 as decimal(10, 2)) as price,
    concat('street ', hash(id, 'street') % 100000) as street,
    date '2020-01-01' + cast(abs(hash(id, 'since')) % 1000 as int) as since,
    sha2(cast(id as string), 256) as reference,
    hash(id, 'category') % 20 as category,
    timestamp '{extract_time}' as extracted_at
from range({keys} + {number}L * {keys} * {new} div 100000)
where abs(xxhash64(id, 'gone')) % 100000 >= {number} * {gone}
"""
CHANGES = """
create or replace table bench.changes_{number} using delta as
select new.*
from bench.extract_{number} as new
left anti join bench.extract_{before} as old on new.id = old.id and new.status = old.status
"""
# What an increment and a changelog are given: the rows that an extract changes, and the last ones of deleted keys.
BATCH = """
create or replace table bench.batch_{number} using delta as
select *, 'upsert' as op from bench.changes_{number}
union all
select old.* except (extracted_at), timestamp '{extract_time}' as extracted_at, 'delete' as op
from bench.extract_{before} as old left anti join bench.extract_{number} as new on old.id = new.id
"""
FIRST_BATCH = """
create or replace table bench.batch_0 using delta as select *, 'upsert' as op from bench.extract_0
"""
# Changes fall on any key, or, skewed, all on the newest tenth.
CHANGED = "cast({among}abs(xxhash64(id, {number})) % 1000000 < {millionths} as int)"
NEWEST_TENTH = "id >= {keys} - {keys} div 10 and "

MODEL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='extracted_at', merge_plan='<plan>',
    scd2_columns={'surrogate_key': 'sk'<more>}
) }}
select * from {{ target.schema }}.extract
"""
BATCH_MODEL = """
{{ config(
    materialized='scd2', source_kind='<kind>', unique_key='id', effective_at='extracted_at', change_type='op',
    scd2_columns={'surrogate_key': 'sk'}
) }}
select * from {{ target.schema }}.batch
"""
PYTHON_MODEL = """
def model(dbt, session):
    dbt.config(
        materialized="scd2", unique_key="id", effective_at="extracted_at", scd2_columns={"surrogate_key": "sk"}
    )
    return session.table("bench.extract")
"""
SNAPSHOT = """
{% snapshot dbt_snapshot %}
{{ config(unique_key='id', strategy='check', check_cols=<columns>, hard_deletes='invalidate', file_format='delta') }}
select * except (extracted_at) from {{ target.schema }}.extract
{% endsnapshot %}
"""

HASH = "sha2(to_json(struct(" + ", ".join(ATTRIBUTES) + ")), 256)"
FIRST = f"""
create or replace table bench.{{table}} using delta as
select *, {HASH} as hash_diff, timestamp '9999-12-31' as valid_to, true as is_current, false as is_deleted
from bench.extract
"""
SOURCE = f"(select *, {HASH} as hash_diff from bench.extract)"
COLUMNS = ", ".join(["id", *ATTRIBUTES, "extracted_at", "hash_diff"])
OPEN = "timestamp '9999-12-31' as valid_to, true as is_current, false as is_deleted"

# Find what differs, close it, append it, and delete what is absent: the usual answer of a forum.
EXPIRE_APPEND_DELETE = [
    f"""create or replace table bench.expire_changed using delta as
    select source.* from {SOURCE} as source
    left anti join (select id, hash_diff from bench.expire where is_current and not is_deleted) as target
        on source.id = target.id and source.hash_diff = target.hash_diff""",
    """merge into bench.expire as target using bench.expire_changed as source
    on target.id = source.id and target.is_current
    when matched then update set is_current = false, valid_to = source.extracted_at""",
    f"insert into bench.expire select {COLUMNS}, {OPEN} from bench.expire_changed",
    """merge into bench.expire as target using (select id from bench.extract) as source
    on target.id = source.id and target.is_current
    when not matched by source and target.is_current and not target.is_deleted
    then update set is_deleted = true, valid_to = timestamp '{extract_time}'""",
]

# One MERGE, whose source holds changed rows twice, once under a key that matches nothing.
NULL_MERGE_KEYS = [
    f"""merge into bench.nullkeys as target using (
        select id as merge_key, * from {SOURCE}
        union all
        select null as merge_key, source.* from {SOURCE} as source
        inner join bench.nullkeys as target on source.id = target.id and target.is_current
        where source.hash_diff <> target.hash_diff
    ) as source
    on target.id = source.merge_key
    when matched and target.is_current and target.hash_diff <> source.hash_diff
        then update set is_current = false, valid_to = source.extracted_at
    when not matched then insert ({COLUMNS}, valid_to, is_current, is_deleted)
        values ({COLUMNS}, timestamp '9999-12-31', true, false)
    when not matched by source and target.is_current and not target.is_deleted
        then update set is_deleted = true, valid_to = timestamp '{{extract_time}}'""",
]

FULL_REWRITE = [
    f"""insert overwrite bench.rewrite
    select {", ".join("target." + column for column in COLUMNS.split(", "))},
        case when not target.is_current or source.hash_diff <=> target.hash_diff then target.valid_to
            else timestamp '{{extract_time}}' end as valid_to,
        target.is_current and (source.id is null or source.hash_diff = target.hash_diff) as is_current,
        target.is_deleted or (target.is_current and source.id is null) as is_deleted
    from bench.rewrite as target left join {SOURCE} as source on target.id = source.id
    union all
    select source.*, {OPEN} from (select {COLUMNS} from {SOURCE}) as source
    left anti join (select * from bench.rewrite where is_current) as target
        on source.id = target.id and source.hash_diff = target.hash_diff""",
]


LATER = "select * except (extracted_at), extracted_at + interval 1 hour as extracted_at"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--keys", type=int, nargs="+", default=[100_000], help="sizes of the dimension")
    arguments.add_argument(
        "--changed",
        type=float,
        nargs="+",
        default=[1.0],
        help="percent of the keys that an extract changes; more"
        " than one share is measured on the largest dimension alone",
    )
    arguments.add_argument(
        "--rounds", type=int, nargs="+", default=[3], help="extracts of each share: one number for all, or one for each"
    )
    arguments.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="measure these ways alone, and the floor: 'ours, staged' 'dbt snapshot'",
    )
    arguments.add_argument("--skewed", action="store_true", help="let all changes fall on the newest tenth of the keys")
    arguments.add_argument("--output", type=Path, default=Path("target/bench/contenders.json"))
    options = arguments.parse_args()
    if len(options.rounds) not in (1, len(options.changed)):
        arguments.error("--rounds takes one number, or one for each share of --changed")
    if options.skewed and max(options.changed) > 10:
        arguments.error("--skewed changes the newest tenth of the keys: no more than 10 percent of all")

    options.output.parent.mkdir(parents=True, exist_ok=True)
    results = []
    # For millions of rows, Java's optimising compiler earns what it costs.
    with bench_project("bench", java_options="-XX:+UseParallelGC", memory="12g") as project:
        for keys in sorted(options.keys):
            shares = options.changed if keys == max(options.keys) else options.changed[:1]
            rounds = options.rounds * len(shares) if len(options.rounds) == 1 else options.rounds
            schedule = [share for share, times in zip(shares, rounds, strict=False) for _ in range(times)]
            for share, seconds in measure(project, keys, schedule, options.skewed, options.only):
                results.append({"keys": keys, "changed_percent": share, "skewed": options.skewed, "seconds": seconds})
                options.output.write_text(json.dumps(results, indent=2) + "\n")
            project.drop()
            session().sql("create schema bench")
    report(results)
    print(f"\nwritten to {options.output}")


def extract_time(number: int) -> datetime:
    return datetime(2024, 1, 1) + timedelta(days=number)


def make_extracts(keys: int, schedule: list[float], skewed: bool) -> None:
    """Tables bench.extract_0, _1, ...: the first extract, and one for each share of the schedule; changes beside."""
    among = NEWEST_TENTH.format(keys=keys) if skewed else ""
    changes = ["0"]
    for number in range(len(schedule) + 1):
        if number:
            millionths = int(schedule[number - 1] * 10_000) * (10 if skewed else 1)
            changes.append(CHANGED.format(among=among, number=number, millionths=millionths))
        session().sql(
            EXTRACT.format(
                number=number,
                keys=keys,
                changes=" + ".join(changes),
                extract_time=extract_time(number),
                new=NEW,
                gone=GONE,
            )
        )
        if number:
            session().sql(CHANGES.format(number=number, before=number - 1))
            session().sql(BATCH.format(number=number, before=number - 1, extract_time=extract_time(number)))
        else:
            session().sql(FIRST_BATCH)
        print(f"{keys} keys: extract {number} of {len(schedule)} made", flush=True)


def measure(
    project: DbtProject, keys: int, schedule: list[float], skewed: bool, only: list[str] | None
) -> Iterator[tuple[float | None, dict[str, list[float]]]]:
    """Each share of changes with the seconds of its loads by contender; none is the first load."""
    for name, plan, more in (
        ("staged", "staged", ""),
        ("state_hash", "staged", ", 'state_hash': 'state_hash'"),
        ("three_clause", "three_clause", ""),
    ):
        project.write({f"models/ours_{name}.sql": MODEL.replace("<plan>", plan).replace("<more>", more)})
    for kind in ("increment", "changelog"):
        project.write({f"models/ours_{kind}.sql": BATCH_MODEL.replace("<kind>", kind)})
    project.write({"models/ours_python.py": PYTHON_MODEL})
    project.write({"snapshots/dbt_snapshot.sql": SNAPSHOT.replace("<columns>", repr(ATTRIBUTES))})

    def dbt(command: str, name: str) -> Callable[[int], float]:
        def load(_: int) -> float:
            return float(project.succeed(command, "--quiet", "--select", name)[name].execution_time)

        return load

    def by_hand(table: str, statements: list[str]) -> Callable[[int], float]:
        def load(number: int) -> float:
            chosen = statements if number else [FIRST.format(table=table)]
            started = time.perf_counter()
            for statement in chosen:
                session().sql(statement.format(extract_time=extract_time(number)))
            return time.perf_counter() - started

        return load

    contenders: dict[str, tuple[Callable[[int], float], str]] = {
        way: (dbt("run", name), f"{name} where is_current and not is_deleted")
        for way, name in {
            "ours, staged": "ours_staged",
            "ours, staged, state hash": "ours_state_hash",
            "ours, staged, Python": "ours_python",
            "ours, three clauses": "ours_three_clause",
            "ours, increment": "ours_increment",
            "ours, changelog": "ours_changelog",
        }.items()
    }
    contenders |= {
        "dbt snapshot": (dbt("snapshot", "dbt_snapshot"), "dbt_snapshot where dbt_valid_to is null"),
        "expire, append, delete": (
            by_hand("expire", EXPIRE_APPEND_DELETE),
            "expire where is_current and not is_deleted",
        ),
        "null merge keys": (by_hand("nullkeys", NULL_MERGE_KEYS), "nullkeys where is_current and not is_deleted"),
        "full rewrite": (by_hand("rewrite", FULL_REWRITE), "rewrite where is_current and not is_deleted"),
        "floor": (floor, ""),
    }
    if only:
        if unknown := set(only) - set(contenders):
            sys.exit(f"no such way: {' | '.join(unknown)}. There are: {' | '.join(contenders)}")
        contenders = {name: contender for name, contender in contenders.items() if name in [*only, "floor"]}
    make_extracts(keys, schedule, skewed)
    # The same rows again, of a later time: what an extract costs that changes nothing.
    again = {
        f"{name}, nothing changed": contenders[name][0]
        for name in ("ours, staged", "dbt snapshot")
        if name in contenders
    }
    columns = ", ".join(["id", *ATTRIBUTES])
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    loads = [None, *schedule]
    for number, share in enumerate(loads):
        session().sql(f"create or replace view bench.extract as select * from bench.extract_{number}")
        session().sql(f"create or replace view bench.batch as select * from bench.batch_{number}")
        # Whoever comes first reads what nobody has read yet, so that each comes first in turn.
        first = number % len(names)
        for name in names[first:] + names[:first]:
            taken = contenders[name][0](number)
            print(f"{keys} keys, extract {number} of {len(schedule)}, {name}: {taken:.1f} s", flush=True)
            seconds[name].append(taken)
        if share is not None:
            session().sql(f"create or replace view bench.extract as {LATER} from bench.extract_{number}")
            for name in [*again][:: -1 if number % 2 else 1]:
                seconds.setdefault(name, []).append(again[name](number))
        if loads[number + 1 : number + 2] != [share]:
            for name, (_, live) in contenders.items():
                pair = f"select {columns} from bench.extract", f"select {columns} from bench.{live}"
                for one, other in (pair, pair[::-1]) if live else ():
                    if session().sql(f"{one} except {other}").count():
                        sys.exit(f"{name} does not hold the current rows")
            yield share, seconds
            seconds = {name: [] for name in names}


def floor(number: int) -> float:
    """Read the extract with its hash once, the current keys and hashes once, and write what changed once."""
    started = time.perf_counter()
    if not number:
        session().sql(FIRST.format(table="floor"))
        return time.perf_counter() - started
    session().sql(f"select id, {HASH} from bench.extract").write.format("noop").mode("overwrite").save()
    session().sql("select id, hash_diff from bench.floor where is_current").write.format("noop").mode(
        "overwrite"
    ).save()
    session().sql(f"insert into bench.floor select *, {HASH}, {OPEN} from bench.changes_{number}")
    return time.perf_counter() - started


def report(results: list[dict[str, Any]]) -> None:
    for result in results:
        medians = {name: statistics.median(taken) for name, taken in result["seconds"].items()}
        skewed = ", skewed" if result["skewed"] else ""
        share = result["changed_percent"]
        print(f"\n{result['keys']} keys, {'first load' if share is None else f'{share:g} % changed'}{skewed}\n")
        print("| | seconds | of the floor |\n| --- | --- | --- |")
        for name, median in medians.items():
            print(f"| {name} | {median:.1f} | {median / medians['floor']:.1f} |")


if __name__ == "__main__":
    main()
