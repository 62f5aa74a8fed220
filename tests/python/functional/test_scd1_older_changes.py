"""Changes that come in any order and any number of batches leave a copy as they would sorted in one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from harness import DbtProject, tuples

DDL = "region string, id int, value string, _change_type string, place bigint"
SQL = """
{{ config(materialized='scd1', unique_key=['region', 'id']) }}
with changes as (
    select
        * except (place),
        struct(
            place div 20 / 8 as part,
            lpad(place div 10, 4, '0') as file,
            array(struct(timestamp_seconds(place div 5) as `at it`, place as at)) as places
        ) as _change_ordinal
    from {{ target.schema }}.events
)
{{ delta_scd2.latest_changes('changes', ['region', 'id']) }}
"""
PY = """
from delta_scd2 import latest_changes


def model(dbt, session):
    dbt.config(materialized="scd1", unique_key=["region", "id"], change_ordinal="place")
    events = session.table(f"{dbt.this.schema}.events")
    return latest_changes(events, ["region", "id"], change_ordinal="place")
"""
COPIES = ["copy_sql", "copy_py"]

Change = tuple[Any, ...]


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    return make_project({"models/copy_py.py": PY, "models/copy_sql.sql": SQL})


def state(changes: list[Change]) -> list[Change]:
    """The rows after all changes, in the order of their ordinals; what takes and brings a key at once brings it."""
    rows: dict[tuple[Any, Any], Change] = {}
    for region, key, value, kind, _ in sorted(changes, key=lambda change: (change[4], change[3] != "D")):
        if kind == "D":
            rows.pop((region, key), None)
        else:
            rows[region, key] = (region, key, value)
    return sorted(rows.values(), key=str)


def copy(project: DbtProject, name: str) -> list[Change]:
    return sorted(tuples(project.sql(f"select * from {{schema}}.{name}")), key=str)


def random_batches(random: Random) -> list[list[Change]]:
    """Up to six changes a key in three batches, some of them twice, some a deletion and an insert at once."""
    changes = []
    for region, key in itertools.product(("EU", None), (*range(60), None)):
        for place in random.sample(range(40), random.randint(1, 6)):
            value = random.choice(["a", "b", None])
            kinds = random.choice([["U"], ["U"], ["D"], ["D", "U"]])
            changes += [(region, key, None if kind == "D" else value, kind, place) for kind in kinds]
    changes += random.sample(changes, 50)
    random.shuffle(changes)
    cuts = sorted(random.sample(range(1, len(changes)), 2))
    return [changes[start:end] for start, end in itertools.pairwise([0, *cuts, len(changes)])]


PUBLISHED = [
    [("AUTO CDC", 1, "new", "U", 10), ("AUTO CDC", 2, "x", "I", 1), ("AUTO CDC", 2, None, "D", 20)],
    [("AUTO CDC", 1, "old", "U", 5), ("AUTO CDC", 2, "late", "U", 15), ("AUTO CDC", 3, None, "D", 9)],
    [("AUTO CDC", 3, "late", "I", 8)],
]


def test_the_order_of_batches_leaves_no_trace(project: DbtProject) -> None:
    assert state([change for batch in PUBLISHED for change in batch]) == [("AUTO CDC", 1, "new")]
    random = Random(1)
    batches = [[*ours, *theirs] for ours, theirs in zip(PUBLISHED, random_batches(random), strict=True)]
    past: list[Change] = []
    for batch in batches:
        project.load("events", DDL, batch)
        project.succeed("run")
        past += batch
        for name in COPIES:
            assert copy(project, name) == state(past)

    # What was applied changes nothing, and commits nothing, whichever batch it was.
    tables = [table for name in COPIES for table in (name, f"{name}__ordinals")]
    versions = [project.version(table) for table in tables]
    project.load("events", DDL, batches[0])
    project.succeed("run")
    assert [project.version(table) for table in tables] == versions
