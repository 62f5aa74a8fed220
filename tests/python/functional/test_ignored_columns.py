"""Columns that are never compared have the values that a history built in order has."""

from __future__ import annotations

from datetime import datetime

import pytest

from harness import DbtProject

T = [datetime(2024, 1, day) for day in range(1, 6)]
BEGINNING = datetime(1900, 1, 1)
DDL = "id int, value string, note string, is_inferred boolean, op string, at timestamp"
OPTIONS = {
    "dim_rebuilt": "track_columns=['value']",
    "dim_recorded": "source_kind='increment', change_type='op', ignore_columns='note', hard_deletes='new_record'",
    "dim_member": "source_kind='changelog', change_type='op', ignore_columns='note', inferred_member='is_inferred'",
    "dim_repeated": "source_kind='changelog', change_type='op', ignore_columns='note'",
}
EXTRACTS = [(1, "b", "old", T[1]), (2, "b", "old", T[1]), (1, "b", "last", T[2]), (2, "c", "last", T[2])]
REPAIRED = [(1, "b", "new", T[1]), (2, "b", "new", T[1]), *EXTRACTS[2:]]
# The batches of each, one a run.
BATCHES = {
    "dim_rebuilt": [
        [(*row[:3], False, None, row[3]) for row in rows] for rows in (EXTRACTS, EXTRACTS, REPAIRED, REPAIRED)
    ],
    "dim_recorded": [
        [(1, "a", "later", False, "U", T[2]), (1, None, None, False, "D", T[4])],
        [(1, "a", "first", False, "U", T[1])],
        [],
        [],
    ],
    "dim_member": [
        [(1, None, None, True, "U", T[0])],
        [(1, "a", "second", False, "U", T[3])],
        [(1, "a", "first", False, "U", T[2])],
        [(1, "a", "said again", False, "U", T[2])],
    ],
    "dim_repeated": [
        [(1, "a", "first", False, "U", T[0]), (1, "a", "third", False, "U", T[3])],
        [(1, "b", "second", False, "U", T[2]), (1, "a", "said again", False, "U", T[3])],
        [],
        [],
    ],
}
HISTORIES = {
    "dim_rebuilt": [(1, "b", "new", T[1]), (2, "b", "new", T[1]), (2, "c", "last", T[2])],
    "dim_recorded": [(1, "a", "first", T[1]), (1, "a", "first", T[4])],
    "dim_member": [(1, "a", "first", BEGINNING)],
    "dim_repeated": [(1, "a", "first", T[0]), (1, "b", "second", T[2]), (1, "a", "third", T[3])],
}


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    model = "{{{{ config(materialized='scd2', unique_key='id', effective_at='at', {}) }}}}\n{}"
    rows = "select * from {{{{ target.schema }}}}.{}_rows"
    return make_project({f"models/{name}.sql": model.format(OPTIONS[name], rows.format(name)) for name in OPTIONS})


def test_values_are_those_of_a_history_built_in_order(project: DbtProject) -> None:
    for number in range(4):
        for name, batches in BATCHES.items():
            project.load(f"{name}_rows", DDL, batches[number])
        if number == 2:
            project.succeed("run", "--select", "dim_rebuilt", "--vars", "scd2_rebuild_from: '2024-01-02'")
        project.succeed("run")
    columns = "id, value, note, effective_from"
    assert {name: project.history(name, columns) for name in OPTIONS} == HISTORIES
