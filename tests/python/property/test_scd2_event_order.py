"""Events in any order and any number of batches end in the history, and the current state, of the sorted events."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import cycle
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness import INVARIANTS, DbtProject, model_in, tuples
from oracle import COLUMNS, Event, apply_events

START = datetime(2024, 1, 1)
KEYS = 150

OPTIONS = """
    materialized='scd2', source_kind='changelog', unique_key=['id', 'day', 'whole', 'small', 'tiny'], effective_at='at',
    sequence_by='seq', track_columns='value', overwrite_columns='note', surrogate_key='sequence',
    hard_deletes='<hard_deletes>', scd2_columns={'surrogate_key': 'sk'},
"""
QUERY = """
select
    *,
    date_add(date '1970-03-01', -id) as day,
    -bigint(id) as whole,
    smallint(-id) as small,
    tinyint(id - 100) as tiny,
    concat('note ', seq) as note
from {schema}.events
"""
COPY = """
{{ config(materialized='scd1', unique_key='id', change_ordinal='ordinal') }}
with events as (
    select distinct * except (at, seq), unix_seconds(at) * 1000 + seq as ordinal
    from {{ target.schema }}.all_events
)
{{ delta_scd2.latest_changes('events', 'id', change_ordinal='ordinal') }}
"""
PYTHON_COPY = """
from delta_scd2 import latest_changes
from pyspark.sql import functions as F


def model(dbt, session):
    dbt.config(materialized="scd1", unique_key="id", change_ordinal="ordinal")
    events = session.table(f"{dbt.this.schema}.all_events").distinct()
    events = events.withColumn("ordinal", F.unix_seconds("at") * 1000 + F.col("seq")).drop("at", "seq")
    return latest_changes(events, "id", change_ordinal="ordinal")
"""
HARD_DELETES = ["soft_delete", "new_record", "invalidate", "ignore"]
SCHEMA = "version: 2\nmodels:\n" + "".join(
    f"""
  - name: dim_{kind}
    data_tests: {INVARIANTS}
"""
    for kind in HARD_DELETES
)
DDL = "id int, value string, at timestamp, seq int, _change_type string"
NOTES = "select id, collect_set(note) as notes from {schema}.dim_{kind} group by id"


@pytest.fixture(scope="module")
def projects(make_project, tmp_path_factory: pytest.TempPathFactory) -> list[DbtProject]:
    """The same models in SQL and in Python."""
    made = {"sql": make_project({"models/copy_events.sql": COPY})}
    made["python"] = DbtProject(tmp_path_factory.mktemp("project"), made["sql"].schema)
    made["python"].write({"models/copy_events.py": PYTHON_COPY})
    for language, project in made.items():
        project.write({"models/schema.yml": SCHEMA})
        for kind in HARD_DELETES:
            project.write(model_in(language, f"dim_{kind}", OPTIONS.replace("<hard_deletes>", kind), QUERY))
    return [*made.values()]


def random_events(random: Random) -> list[tuple]:
    """Up to sixteen events a key, some at the same time with different sequence, some twice."""
    events = []
    for key in range(KEYS):
        for seq in range(random.randint(1, 16)):
            kind = "DELETE" if random.random() < 0.3 else "UPDATE_AFTER"
            value = None if kind == "DELETE" else random.choice([None, "", "a", "b"])
            event = (key, value, START + timedelta(hours=random.randint(0, 9)), seq, kind)
            events += [event] * random.choice([1, 1, 1, 2])
    return events


def check(projects: list[DbtProject], seed: int, kinds: list[str]) -> None:
    project, turns = projects[0], cycle(projects)
    random = Random(seed)
    events = random_events(random)
    random.shuffle(events)
    dimensions = [f"dim_{kind}" for kind in kinds]
    for name in (*dimensions, "copy_events"):
        project.sql(f"drop table if exists {{schema}}.{name}")
    size = len(events) // random.randint(3, 5) + 1
    for start in range(0, len(events), size):
        project.load("events", DDL, events[start : start + size])
        next(turns).succeed("run", "--select", *dimensions)
    project.load("all_events", DDL, events)
    next(turns).succeed("run", "--select", "copy_events")

    for kind in kinds:
        last: dict[tuple, tuple] = {}
        for event in sorted(events, key=lambda event: event[3]):
            if event[4] != "DELETE" or kind != "ignore":
                last[event[0], event[2]] = event
        together: dict[int, list[Event]] = {}
        for key, value, ts, _, change in last.values():
            together.setdefault(key, []).append((ts, "delete" if change == "DELETE" else "upsert", value))
        found = project.sql(f"select {COLUMNS} from {{schema}}.dim_{kind} order by cast(id as string), 3")
        assert tuples(found) == apply_events([together], kind)
        assert project.sql(f"select count(distinct sk) = count(*) from {{schema}}.dim_{kind}") == [(True,)]

        # A type 1 column holds what the last event said that was no deletion.
        said = sorted((event for event in last.values() if event[4] != "DELETE"), key=lambda event: event[2])
        notes = {row.id: row.notes for row in project.sql(NOTES.format(kind=kind, schema="{schema}"))}
        assert notes == {key: [f"note {seq}"] for key, _, _, seq, _ in said}
    present = f"select id, value from {{schema}}.dim_{kinds[0]} where is_current and not is_deleted order by 1"
    live = project.sql(present)
    assert live == project.sql("select id, value from {schema}.copy_events order by 1")
    assert live


def test_the_order_of_events_leaves_no_trace(projects: list[DbtProject]) -> None:
    # A deletion that closes a version in its place is that of test_scd2_batches.
    check(projects, 0, ["new_record"])


# A seed has no smaller form, so there is nothing to shrink.
@pytest.mark.slow
@settings(max_examples=10, derandomize=False, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_more_orders_of_events_leave_no_trace(projects: list[DbtProject], seed: int) -> None:
    check(projects, seed, HARD_DELETES)
    projects[0].succeed("test")
