"""What a column said before it left the model stays, whatever rows come afterwards, late ones too."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest

from harness import INVARIANTS, DbtProject, model_in, tuples

START = datetime(2024, 1, 1, 12)
KEYS = 120
OPTIONS = """
    materialized='scd2', source_kind='<source_kind>', unique_key='id', effective_at='changed_at', change_type='op',
    sequence_by='number', hard_deletes='<hard_deletes>',
"""
MODELS = {
    "dim_increment": ("increment", "new_record", "python"),
    "dim_changelog": ("changelog", "invalidate", "sql"),
}
YAML = "models:\n" + "".join(f"  - {{name: {name}, data_tests: {INVARIANTS}}}\n" for name in MODELS)
DDL = "id int, changed_at timestamp, op string, number int, first string"

Row = tuple[Any, ...]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {"models/schema.yml": YAML}
    for name, (source_kind, hard_deletes, language) in MODELS.items():
        options = OPTIONS.replace("<source_kind>", source_kind).replace("<hard_deletes>", hard_deletes)
        files |= model_in(language, name, options, "select * from {schema}.changes")
    return make_project(files)


def random_rows(random: Random, number: int, days: list[int]) -> list[Row]:
    """Rows of many keys, with values of the column that leaves; some are deletions."""
    rows: list[Row] = []
    for key in range(KEYS):
        for day in random.sample(days, random.randint(0, len(days))):
            at = START + timedelta(days=day)
            if random.random() < 0.15:
                rows.append((key, at, "delete", number, None, None))
            else:
                rows.append((key, at, "upsert", number, random.choice("ab"), random.choice(["x", "y", None])))
    return rows


def values_known(project: DbtProject, name: str) -> set[Row]:
    """The versions that have a value of the column that leaves.

    A tombstone has the values of the version before it, which may be that of a late row.
    """
    is_tombstone = "is_deleted" if MODELS[name][1] == "new_record" else "false"
    where = f"second is not null and not {is_tombstone}"
    return set(project.history(name, "id, effective_from, first, second", where))


def values_at_their_times(project: DbtProject, name: str) -> list[Row]:
    """The rows of the batch, with the values that the dimension has at their times."""
    is_tombstone = "is_deleted" if MODELS[name][1] == "new_record" else "false"
    return tuples(
        project.sql(
            "select changes.id, changes.changed_at, changes.op, changes.number, dim.first from {schema}.changes"
            f" inner join {{schema}}.{name} as dim on dim.id = changes.id and not {is_tombstone}"
            " and changes.changed_at >= dim.effective_from and changes.changed_at < dim.effective_to"
            " where op = 'upsert'"
        )
    )


def test_values_of_a_column_that_left_stay(project: DbtProject) -> None:
    random = Random(7)
    first = random_rows(random, 1, [0, 2, 4, 6, 8])
    project.load("changes", f"{DDL}, second string", first)
    project.succeed("run")
    known = {name: values_known(project, name) for name in MODELS}
    assert all(known.values())

    # Keys that return at the time of their deletion, with another value than before and after.
    returns = [(*row[:2], "upsert", 2, "c", None) for row in first if row[2] == "delete"]
    # Some of the same rows again, as a window of time that overlaps the last one returns them, or under a new number.
    again = [
        (*row[:3], random.choice([1, 2]) if row[2] == "upsert" else 1, *row[4:])
        for row in first
        if random.random() < 0.3
    ] + returns
    for rows in (random_rows(random, 2, [1, 3, 5, 9]) + again, random_rows(random, 3, [-1, 7, 10])):
        batch = [row[:-1] for row in rows]
        project.load("changes", DDL, batch)
        project.succeed("run")
        for name in MODELS:
            now = values_known(project, name)
            assert known[name] - now == set(), name
            # A row that opens a version says nothing of the column.
            places = [{(key, start, value) for key, start, _, value in values} for values in (now, known[name])]
            assert places[0] == places[1], name
            upserts = {row for row in batch if row[2] == "upsert"}
            assert set(values_at_their_times(project, name)) == upserts, name

    before = {name: project.version(name) for name in MODELS}
    project.succeed("build")
    assert {name: project.version(name) for name in MODELS} == before
