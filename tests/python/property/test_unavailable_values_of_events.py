"""Placeholders in events take the values of the events before them, whatever the order in which these arrive."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import cycle
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness import INVARIANTS, DbtProject, model_in
from oracle import Event, apply_events

START = datetime(2024, 1, 1)
KEYS = 120
TEXT = "__debezium_unavailable_value"
# What stands for a value in each column that may have a placeholder.
PLACEHOLDERS = {"body": TEXT, "scan": bytearray(TEXT.encode()), "tags": [TEXT]}
VALUES = {"body": [None, "a", "b"], "scan": [None, bytearray(b""), bytearray(b"c")], "tags": [[], ["d"]]}

OPTIONS = """
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='at', sequence_by='seq',
    unavailable_columns=['body', 'scan', 'tags'], overwrite_columns='note', hard_deletes='<hard_deletes>',
    scd2_columns={'surrogate_key': 'sk'},
"""
QUERY = "select *, concat('note ', seq) as note from {schema}.events"
HARD_DELETES = ["soft_delete", "new_record", "invalidate", "ignore"]
SCHEMA = "version: 2\nmodels:\n" + "".join(
    f"""
  - name: dim_{kind}
    data_tests: {INVARIANTS}
"""
    for kind in HARD_DELETES
)
DDL = "id int, name string, body string, scan binary, tags array<string>, at timestamp, seq int, _change_type string"
FOUND = """
select id, struct(name, body, scan, tags), effective_from, effective_to, is_current, is_deleted
from {schema}.dim_<kind>
order by cast(id as string), effective_from
"""


@pytest.fixture(scope="module")
def projects(make_project, tmp_path_factory: pytest.TempPathFactory) -> list[DbtProject]:
    """The same dimensions in SQL and in Python."""
    made = {"sql": make_project({})}
    made["python"] = DbtProject(tmp_path_factory.mktemp("project"), made["sql"].schema)
    for language, project in made.items():
        project.write({"models/schema.yml": SCHEMA})
        for kind in HARD_DELETES:
            project.write(model_in(language, f"dim_{kind}", OPTIONS.replace("<hard_deletes>", kind), QUERY))
    return [*made.values()]


def random_events(random: Random, key: int) -> list[tuple]:
    """The first event of a key, with all values, and up to ten later ones, of which some come twice."""
    events = []
    for seq in range(random.randint(1, 11)):
        at = START + timedelta(hours=random.randint(1, 6) if seq else 0)
        is_deletion = seq > 0 and random.random() < 0.2
        values = [
            None if is_deletion else PLACEHOLDERS[name] if seq and random.random() < 0.5 else random.choice(known)
            for name, known in VALUES.items()
        ]
        name = None if is_deletion else random.choice(["x", "y"])
        event = (key, name, *values, at, seq, "DELETE" if is_deletion else "UPDATE_AFTER")
        events += [event] * random.choice([1, 1, 2] if seq else [1])
    return events


def with_values(events: list[tuple]) -> list[Event]:
    """The last event of each time, with the values of the events before it: what the source had."""
    known: dict[str, object] = {}
    states: dict[datetime, Event] = {}
    for _, name, *values, at, _, kind in sorted(events, key=lambda event: (event[-3], event[-2])):
        if kind == "DELETE":
            states[at] = (at, "delete", None)
            continue
        for column, value in zip(PLACEHOLDERS, values, strict=True):
            if value != PLACEHOLDERS[column]:
                known[column] = value
        states[at] = (at, "upsert", (name, *known.values()))
    return [*states.values()]


def check(projects: list[DbtProject], seed: int, kinds: list[str]) -> None:
    random, turns, schema = Random(seed), cycle(projects), projects[0].schema
    events = {key: random_events(random, key) for key in range(KEYS)}
    first = [of_key[0] for of_key in events.values()]
    later = [event for of_key in events.values() for event in of_key[1:]]
    random.shuffle(later)
    dimensions = [f"dim_{kind}" for kind in kinds]
    for name in dimensions:
        projects[0].sql(f"drop table if exists {schema}.{name}")
    size = len(later) // 3 + 1
    batches = [later[start : start + size] for start in range(0, len(later), size)]
    for batch in [first + batches[0], *batches[1:]]:
        projects[0].load("events", DDL, batch)
        next(turns).succeed("run", "--select", *dimensions)

    for kind in kinds:
        said = {
            key: with_values([event for event in of_key if kind != "ignore" or event[-1] != "DELETE"])
            for key, of_key in events.items()
        }
        rows = projects[0].sql(FOUND.replace("<kind>", kind))
        assert [(row[0], tuple(row[1]), *row[2:]) for row in rows] == apply_events([said], kind)
        # The last batch again changes nothing.
        version = projects[0].version(f"dim_{kind}")
        projects[0].succeed("run", "--select", f"dim_{kind}")
        assert projects[0].version(f"dim_{kind}") == version


def test_a_placeholder_has_the_value_before_it(projects: list[DbtProject]) -> None:
    check(projects, 0, ["new_record"])


# A seed has no smaller form, so there is nothing to shrink.
@pytest.mark.slow
@settings(max_examples=10, derandomize=False, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_more_placeholders_have_the_values_before_them(projects: list[DbtProject], seed: int) -> None:
    check(projects, seed, HARD_DELETES)
    projects[0].succeed("test")
