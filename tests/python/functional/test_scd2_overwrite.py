"""Type 1 beside type 2: overwritten columns hold their newest value in every version of a key."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

import pytest

from harness import DbtProject, with_open_ends

DDL = "id int, city string, email string, phone string, at timestamp"
T = [datetime(2024, 1, n) for n in range(1, 6)]
MODEL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at', overwrite_columns=['email', 'phone'], <options>
) }}
select * from {{ target.schema }}.customers
"""
OPTIONS = {
    "dim_soft": "hard_deletes='soft_delete'",
    "dim_tombstones": "hard_deletes='new_record', surrogate_key='sequence'",
    "dim_increment": "source_kind='increment'",
}
PYTHON_MODEL = """
def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="id", effective_at="at", overwrite_columns=["email", "phone"])
    return session.table(f"{dbt.this.schema}.customers")
"""

EXTRACTS = {
    T[0]: [(1, "Bern", "one@a", None), (2, "Chur", "two@a", None), (3, "Genf", "three@a", None)],
    # 1: both kinds of change; 2: type 1 alone; 3: type 2 alone
    T[1]: [(1, "Basel", "one@b", None), (2, "Chur", "two@b", "2"), (3, "Sion", "three@a", None)],
    T[2]: [(1, "Basel", "one@b", "1"), (3, "Sion", "three@a", None)],
    T[3]: [(1, "Bern", "one@d", None), (2, "Chur", "two@d", "2"), (3, "Sion", "three@a", None)],
}
SOFT = [
    (1, "Bern", "one@d", None, T[0], T[1], False, False),
    (1, "Basel", "one@d", None, T[1], T[3], False, False),
    (1, "Bern", "one@d", None, T[3], None, True, False),
    (2, "Chur", "two@d", "2", T[0], T[2], False, True),
    (2, "Chur", "two@d", "2", T[3], None, True, False),
    (3, "Genf", "three@a", None, T[0], T[1], False, False),
    (3, "Sion", "three@a", None, T[1], None, True, False),
]
EXPECTED = {
    "dim_soft": SOFT,
    "dim_python": SOFT,
    "dim_tombstones": [
        *SOFT[:3],
        (2, "Chur", "two@d", "2", T[0], T[2], False, False),
        (2, "Chur", "two@d", "2", T[2], T[3], False, True),
        *SOFT[4:],
    ],
    "dim_increment": [*SOFT[:3], (2, "Chur", "two@d", "2", T[0], None, True, False), *SOFT[5:]],
}


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    models = {f"models/{name}.sql": MODEL.replace("<options>", text) for name, text in OPTIONS.items()}
    return make_project({**models, "models/dim_python.py": PYTHON_MODEL})


@pytest.mark.parametrize(
    "sizes", [[1, 2, 1], *(pytest.param(sizes, marks=pytest.mark.slow) for sizes in ([1, 1, 1, 1], [4]))]
)
def test_newest_values_stand_in_every_version(project: DbtProject, sizes: list[int]) -> None:
    """Runs of so many extracts each."""
    turns = iter([[(*row, ts) for row in extract] for ts, extract in EXTRACTS.items()])
    batches = [[row for extract in islice(turns, size) for row in extract] for size in sizes]
    for name in EXPECTED:
        project.sql(f"drop table if exists {{schema}}.{name}")
    for batch in batches:
        project.load("customers", DDL, batch)
        project.succeed("run")
    for name, expected in EXPECTED.items():
        found = project.history(name, "id, city, email, phone, effective_from, effective_to, is_current, is_deleted")
        assert with_open_ends(found) == expected, name

    versions = {name: project.version(name) for name in EXPECTED}
    project.succeed("run")
    assert {name: project.version(name) for name in EXPECTED} == versions


def test_a_repaired_type_1_value_counts_as_another_row(project: DbtProject) -> None:
    project.load("customers", DDL, [(*row[:2], "other", row[3], T[3]) for row in EXTRACTS[T[3]]])
    assert "0 new, 3 changed and 0 gone: id 1; id 2; id 3" in project.fail("run", "--select", "dim_soft")
