"""Batches of changes, late ones too, give the history that plain Python gives; events also in any order."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness import INVARIANTS, DbtProject, model_in, tuples
from oracle import COLUMNS, Event, apply_events

START = datetime(2024, 1, 1, 12)
HARD_DELETES = ["soft_delete", "invalidate", "new_record", "ignore"]

MODELS = {
    f"dim_{source_kind}_{hard_deletes}": (source_kind, hard_deletes)
    for source_kind in ("increment", "changelog")
    for hard_deletes in HARD_DELETES
}
OPTIONS = """
    materialized='scd2', source_kind='<source_kind>', unique_key='id', effective_at='changed_at', change_type='op',
    hard_deletes='<hard_deletes>', surrogate_key='<surrogate_key>', closing_gap='1 second',
    scd2_columns={'surrogate_key': 'sk'},
"""

YAML = """
version: 2
models:
""" + "".join(
    f"""
  - name: {name}
    data_tests: {INVARIANTS}
"""
    for name in MODELS
)

# The oracle knows of no gap between versions.
GAP = "if(effective_to < '9999-12-31', interval 1 second, interval 0 second)"
FOUND = COLUMNS.replace("effective_to", f"effective_to + {GAP}")
KEYS = 400
Batch = dict[int, list[Event]]


def random_batches(random: Random) -> list[Batch]:
    """Histories of many keys, cut into batches; a time of a key has one event, or a deletion and an insert."""
    batches: list[Batch] = [{} for _ in range(random.randint(2, 4))]
    for key in range(KEYS):
        for step in random.sample(range(12), random.randint(1, 8)):
            ts = START + timedelta(days=step)
            batch = random.choice(batches)
            events = batch.setdefault(key, [])
            draw = random.random()
            if draw < 0.4:
                events.append((ts, "delete", None))
            if draw > 0.3:
                events.append((ts, "upsert", random.choice([None, "", "a", "b"])))
            if draw > 0.9:
                events.append(events[-1])
    return batches


def batches_in_order(random: Random, parts: int = 3) -> list[Batch]:
    """Batches that are each later than the one before, and a last one of late events."""
    batches: list[Batch] = [{} for _ in range(parts + 1)]
    for key in range(KEYS):
        for step in random.sample(range(6 * parts), random.randint(1, 3 * parts)):
            kind = random.choice(["delete", "upsert", "upsert"])
            event = (START + timedelta(days=step), kind, random.choice([None, "", "a", "b"]))
            batches[parts if step % 6 == 3 else step // 6].setdefault(key, []).append(event)
    return batches


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {"models/schema.yml": YAML}
    for number, (name, (source_kind, hard_deletes)) in enumerate(MODELS.items()):
        options = OPTIONS.replace("<hard_deletes>", hard_deletes).replace("<source_kind>", source_kind)
        options = options.replace("<surrogate_key>", ["hash", "sequence"][(number + number // 4) % 2])
        # Each of the quick tests has one dimension in SQL and one in Python.
        language = ["sql", "python"][(number // 2 + number // 4) % 2]
        files |= model_in(language, name, options, "select * from {schema}.changes")
    return make_project(files)


def check(
    project: DbtProject,
    batches: list[Batch],
    names: list[str],
    after_load=lambda number: None,
    repeats: bool = True,
) -> None:
    for name in names:
        project.sql(f"drop table if exists {{schema}}.{name}")
    for number, batch in enumerate(batches):
        rows = [(key, value, ts, op) for key, events in batch.items() for ts, op, value in events]
        project.load("changes", "id int, value string, changed_at timestamp, op string", rows)
        project.succeed("run", "--select", *names)
        after_load(number)

    together: Batch = {key: [event for batch in batches for event in batch.get(key, [])] for key in range(KEYS)}
    for name in names:
        source_kind, hard_deletes = MODELS[name]
        found = tuples(project.sql(f"select {FOUND} from {{schema}}.{name} order by cast(id as string), 3"))
        # A changelog remembers what changed nothing, so the batches leave no trace.
        expected = apply_events(batches if source_kind == "increment" else [together], hard_deletes)
        assert set(found) ^ set(expected) == set(), name
        assert len(found) == len(expected), name
        assert project.sql(f"select count(distinct sk) = count(*) from {{schema}}.{name}") == [(True,)], name

    if repeats:
        versions = {name: project.version(name) for name in names}
        project.succeed("run", "--select", *names)
        assert {name: project.version(name) for name in names} == versions


def test_batches_give_the_same_history_as_plain_python(project: DbtProject) -> None:
    # Two batches; the other kinds of deletion are those of the next test, and of test_scd2_event_order.
    names = ["dim_increment_invalidate", "dim_increment_ignore"]
    check(project, random_batches(Random(1)), names, repeats=False)


def test_batches_in_order_are_compared_with_the_current_versions(project: DbtProject, statements: list[str]) -> None:
    names = ["dim_increment_soft_delete", "dim_changelog_soft_delete"]

    def check_plans(number: int) -> None:
        laid_out = [name for name in names if any(f"{name}__scd2_changes" in statement for statement in statements)]
        assert laid_out == (names if number in (0, 2) else []), number
        statements.clear()

    check(project, batches_in_order(Random(0), parts=2), names, check_plans)


# A seed has no smaller form, so there is nothing to shrink.
@pytest.mark.slow
@settings(max_examples=10, derandomize=False, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_more_batches_give_the_same_history_as_plain_python(project: DbtProject, seed: int) -> None:
    for batches in (random_batches(Random(seed)), batches_in_order(Random(seed))):
        check(project, batches, [*MODELS])
        project.succeed("test")
