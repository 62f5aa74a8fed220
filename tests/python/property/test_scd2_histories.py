"""Every sequence of five full extracts gives the history that plain Python gives, in one run or in many."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import cycle, product

import pytest

from harness import INVARIANTS, DbtProject, tuples
from oracle import COLUMNS, apply_extracts

MOMENTS = [datetime(2024, 1, 1, 12) + timedelta(days=n) for n in range(5)]
HARD_DELETES = ["soft_delete", "invalidate", "new_record", "ignore"]

MODEL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='extracted_at', max_delete_fraction=1,
    hard_deletes='<hard_deletes>', surrogate_key='<surrogate_key>', merge_plan=var('merge_plan'),
    scd2_columns=<names>,
) }}
select * from {{ target.schema }}.extracts
"""

YAML = """
version: 2
models:
""" + "".join(
    f"""
  - name: dim_{kind}
    data_tests: {INVARIANTS}
    columns: [{{name: {kind}_sk, data_tests: [unique, not_null]}}]
"""
    for kind in HARD_DELETES
)

# Below this number of live keys, an extract is compared with the dimension at once; from it on, it is searched.
MANY = 1_000_000
ABSENT = "absent"
# All 3,125 histories that a key can have over five extracts and these states, each under a key of its own: a dbt run
# takes seconds, a history takes none, so nothing is left to chance.
HISTORIES = list(product([ABSENT, None, "", "a", "b"], repeat=len(MOMENTS)))


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {"models/schema.yml": YAML}
    for number, kind in enumerate(HARD_DELETES):
        model = MODEL.replace("<hard_deletes>", kind).replace("<surrogate_key>", ["hash", "sequence"][number % 2])
        files[f"models/dim_{kind}.sql"] = model.replace("<names>", ["{'state_hash': 'state_hash'}", "{}"][number % 2])
    return make_project(files)


@pytest.mark.parametrize(
    ("extracts_a_run", "merge_plan", "read_twice_from"),
    [
        # The runs take turns: before each of them every key has every history there can be.
        (1, "staged", [MANY, 0]),
        (5, "staged", [MANY]),
        pytest.param(1, "staged", [MANY], marks=pytest.mark.slow),
        pytest.param(1, "staged", [0], marks=pytest.mark.slow),
        pytest.param(1, "three_clause", [MANY], marks=pytest.mark.slow),
        pytest.param(2, "staged", [0], marks=pytest.mark.slow),
    ],
)
def test_extracts_give_the_same_history_as_plain_python(
    project: DbtProject, extracts_a_run: int, merge_plan: str, read_twice_from: list[int]
) -> None:
    turns = cycle(read_twice_from)

    def variables() -> list[str]:
        return ["--vars", f"{{merge_plan: {merge_plan}, scd2_read_twice_from: {next(turns)}}}"]

    extracts = [
        (moment, {key: values[n] for key, values in enumerate(HISTORIES) if values[n] != ABSENT})
        for n, moment in enumerate(MOMENTS)
    ]
    for kind in HARD_DELETES:
        project.sql(f"drop table if exists {{schema}}.dim_{kind}")
    for start in range(0, len(extracts), extracts_a_run):
        batch = extracts[start : start + extracts_a_run]
        rows = [(key, value, moment) for moment, values in batch for key, value in values.items()]
        project.load("extracts", "id int, value string, extracted_at timestamp", rows)
        messages = [r.message for r in project.succeed("run", *variables()).values()]
        by_three_clauses = start > 0 and merge_plan == "three_clause"
        assert [m.endswith("by three clauses") for m in messages] == [by_three_clauses] * len(HARD_DELETES)

    for kind in HARD_DELETES:
        found = tuples(project.sql(f"select {COLUMNS} from {{schema}}.dim_{kind} order by cast(id as string), 3"))
        assert found == apply_extracts(extracts, kind)
    project.succeed("test", *variables())

    keys = project.sql("select max(invalidate_sk) as highest, count(*) as n from {schema}.dim_invalidate")[0]
    assert keys.highest == keys.n

    versions = {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES}
    project.succeed("run", *variables())
    assert {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES} == versions
