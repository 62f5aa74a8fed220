"""Events that carry a row before and after its change, as Debezium writes them, into copies and dimensions."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.errors import SparkRuntimeException
from pyspark.sql import SparkSession

from delta_scd2 import flatten_changelog
from harness import INVARIANTS, DbtProject, tuples

ROW = "struct<id: int, region: string, email: string, city: string>"
DDL = f"op string, before {ROW}, after {ROW}, source struct<lsn: bigint, txid: int>, ts_ms bigint"
PLACE = "struct(source.lsn, source.txid)"

CHANGES = """
with changes as (
    {{{{ delta_scd2.flatten_changelog(target.schema ~ '.envelopes', ordinal='{place}'{more}) }}}}
)
{rest}
"""
COPY = "{{ config(materialized='scd1', unique_key=['region', 'email']) }}" + CHANGES.format(
    place=PLACE, more="", rest="{{ delta_scd2.latest_changes('changes', ['region', 'email']) }}"
)
DIMENSION = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key=['region', 'email'], effective_at='happened_at',
    sequence_by='_change_ordinal', scd2_columns={'surrogate_key': 'sk', 'durable_key': 'hk'},
    tblproperties={'delta.enableChangeDataFeed': 'true'}
) }}
""" + CHANGES.format(
    place=PLACE,
    more=", columns={'happened_at': 'timestamp_millis(ts_ms)'}",
    rest="select * except (region, email), nvl(region, 'none') as region, nvl(email, 'none') as email from changes",
)
FOLLOWED = """
{{ config(materialized='scd1', unique_key='sk') }}
{{ delta_scd2.changelog(target.schema ~ '.dim_moved', 'sk') }}
"""
PY = f"""
from delta_scd2 import flatten_changelog, latest_changes


def model(dbt, session):
    dbt.config(materialized="scd1", unique_key=["region", "email"])
    events = session.table(f"{{dbt.this.schema}}.envelopes")
    changes = flatten_changelog(events, ordinal="{PLACE}", keys=["region", "email"])
    return latest_changes(changes, ["region", "email"])
"""
START = datetime(2024, 1, 1)
Event = tuple[Any, ...]


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    dimension = f"version: 2\nmodels: [{{name: dim_moved, data_tests: {INVARIANTS}}}]\n"
    return make_project(
        {
            "models/schema.yml": dimension,
            "models/copy_sql.sql": COPY,
            "models/copy_py.py": PY,
            "models/dim_moved.sql": DIMENSION,
        }
    )


def random_envelopes(random: Random, count: int) -> tuple[list[Event], list[Event]]:
    """Events of rows whose business key changes, with tombstones, repetitions and updates without a row before.

    And the rows at the end.
    """
    rows: dict[int, Event] = {}
    events = []
    tombstone = (None, None, None, None, None)
    for number in range(count):
        key = random.randrange(40)
        before = rows.get(key)
        place = ((number // 3, number % 3), 1704067200000 + 1000 * (number // 2))
        taken = {row[1:3] for other, row in rows.items() if other != key}
        if before is not None and random.random() < 0.2:
            del rows[key]
            events += [("d", before, None, *place), tombstone]
            continue
        business_key = (
            random.choice(["EU", "US", None]),
            random.choice(["a", "b", "A", None]) if key % 2 else str(key),
        )
        after = (key, *(before[1:3] if before and random.random() < 0.4 else business_key), random.choice("xyz"))
        if after[1:3] in taken:
            continue
        # PostgreSQL sends the row before only if told to, which matters where the business key changes.
        told = before if before is None or before[1:3] != after[1:3] or random.random() < 0.7 else None
        events.append(("c" if before is None else "u", told, after, *place))
        rows[key] = after
    return events + random.sample(events, count // 10), list(rows.values())


def test_a_business_key_that_changes(project: DbtProject) -> None:
    random = Random(2)
    events, rows = random_envelopes(random, 600)
    last = max(event[4] for event in events if event[4])
    assert sum(event[0] == "u" and event[1] is not None and event[1][1:3] != event[2][1:3] for event in events) > 100
    random.shuffle(events)
    for batch in (events[:250], events[250:]):
        project.load("envelopes", DDL, batch)
        project.succeed("run")
    for name in ("copy_sql", "copy_py"):
        assert sorted(tuples(project.sql(f"select * from {{schema}}.{name}")), key=str) == sorted(rows, key=str)
    live = project.sql("select id, region, email, city from {schema}.dim_moved where is_current and not is_deleted")
    named = [(row[0], row[1] or "none", row[2] or "none", row[3]) for row in rows]
    assert sorted(tuples(live)) == sorted(named)
    newest = project.sql("select max(effective_from) as at from {schema}.dim_moved")[0].at
    assert newest <= START + timedelta(milliseconds=last - 1704067200000)
    project.succeed("test")

    # The ordinal is stored under a name that leaves the dimension free to have a changelog of its own.
    project.write({"models/followed.sql": FOLLOWED})
    project.succeed("run", "--select", "followed")
    found = project.sql("select sk, moved_change_ordinal.lsn as lsn from {schema}.followed")
    assert sorted(found) == sorted(project.sql("select sk, moved_change_ordinal.lsn as lsn from {schema}.dim_moved"))


UNUSABLE = {
    # name: (operation, row before, row after, what is said of the kind)
    "untold": ("'d'", "null", "cast(null as struct<id: int>)", "type d"),
    "untold_update": ("'u'", "named_struct('id', 1)", "null", "type u"),
    "truncated": ("'t'", "cast(null as struct<id: int>)", "null", "type t"),
    "unknown": ("null", "null", "named_struct('id', 1)", "type null"),
    "numbered": ("1", "null", "named_struct('id', 1)", "type 1"),
}


def test_events_without_a_row_are_refused_by_name(project: DbtProject) -> None:
    spark = SparkSession.active()
    for name, (op, before, after, _) in UNUSABLE.items():
        events = f"(select {op} as op, {before} as before, {after} as after, 7 as lsn)"
        call = (
            f"{{% set events %}}{events}{{% endset %}}\n{{{{ delta_scd2.flatten_changelog(events, ordinal='lsn') }}}}"
        )
        project.write({f"models/bad/{name}.sql": "{{ config(materialized='scd1', unique_key='id') }}\n" + call})
    result = project.dbt("run", "--select", "models/bad")
    messages = {node.node.name: node.message for node in result.result.results}
    for name, (op, before, after, kind) in UNUSABLE.items():
        told = f"a changelog event of {kind} has no row to apply; its ordinal is 7."
        assert f"{name}: {told}" in messages[name]
        assert "Remedy: let the source send the row" in messages[name]
        events = spark.sql(f"select {op} as op, {before} as before, {after} as after, 7 as lsn")
        with pytest.raises(SparkRuntimeException, match=re.escape(told)):
            flatten_changelog(events, ordinal="lsn", keys="id").collect()
    assert not UNUSABLE.keys() & project.relations()
