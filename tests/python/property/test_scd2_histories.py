"""Every sequence of four or five full extracts gives the history that plain Python gives, in one run or in many."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from itertools import cycle, product

import pytest

from harness import INVARIANTS, PROJECT_YML, DbtProject, model_in, tuples
from oracle import COLUMNS, apply_extracts

TIMES = [datetime(2024, 1, 1, 12) + timedelta(days=n) for n in range(5)]
HARD_DELETES = ["soft_delete", "invalidate", "new_record", "ignore"]

OPTIONS = """
    materialized='scd2', unique_key='id', effective_at='extracted_at', max_delete_fraction=1,
    hard_deletes='{hard_deletes}', surrogate_key='{surrogate_key}', merge_plan='{merge_plan}', scd2_columns={names},
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
# All histories that a key can have over the extracts and these states, 3,125 over five, each under a key of its own: a
# dbt run takes seconds, a history takes none, so nothing is left to chance.
STATES = [ABSENT, None, "", "a", "b"]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    """The schema with the tables of all projects."""
    return make_project({})


@pytest.fixture(scope="module")
def project_with(project: DbtProject, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], DbtProject]:
    """A function that returns the project with a plan and a limit, for each of which dbt parses everything once."""

    @cache
    def make(merge_plan: str, read_twice_from: int) -> DbtProject:
        made = DbtProject(tmp_path_factory.mktemp("project"), project.schema)
        variables = f"vars: {{scd2_read_twice_from: {read_twice_from}}}\n"
        made.write({"dbt_project.yml": PROJECT_YML + variables, "models/schema.yml": YAML})
        # A dimension that is written in Python in one of the two projects is written in SQL in the other.
        languages = cycle(["python", "sql"] if read_twice_from else ["sql", "python"])
        for number, kind in enumerate(HARD_DELETES):
            options = OPTIONS.format(
                hard_deletes=kind,
                surrogate_key=["hash", "sequence"][number % 2],
                merge_plan=merge_plan,
                names=["{'state_hash': 'state_hash'}", "{}"][number % 2],
            )
            made.write(model_in(next(languages), f"dim_{kind}", options, "select * from {schema}.extracts"))
        return made

    return make


@pytest.mark.parametrize(
    ("extracts_a_run", "merge_plan", "read_twice_from", "number"),
    [
        # The runs take turns: before each of them every key has every history there can be.
        (1, "staged", [MANY, 0], 4),
        (4, "staged", [MANY], 4),
        pytest.param(5, "staged", [MANY], 5, marks=pytest.mark.slow),
        pytest.param(1, "staged", [MANY], 5, marks=pytest.mark.slow),
        pytest.param(1, "staged", [0], 5, marks=pytest.mark.slow),
        pytest.param(1, "three_clause", [MANY], 5, marks=pytest.mark.slow),
        pytest.param(2, "staged", [0], 5, marks=pytest.mark.slow),
    ],
)
def test_extracts_give_the_same_history_as_plain_python(
    project: DbtProject,
    project_with: Callable[[str, int], DbtProject],
    extracts_a_run: int,
    merge_plan: str,
    read_twice_from: list[int],
    number: int,
) -> None:
    turns = cycle(project_with(merge_plan, limit) for limit in read_twice_from)
    histories = list(product(STATES, repeat=number))
    extracts = [
        (ts, {key: values[n] for key, values in enumerate(histories) if values[n] != ABSENT})
        for n, ts in enumerate(TIMES[:number])
    ]
    for kind in HARD_DELETES:
        project.sql(f"drop table if exists {{schema}}.dim_{kind}")
    for start in range(0, len(extracts), extracts_a_run):
        batch = extracts[start : start + extracts_a_run]
        rows = [(key, value, ts) for ts, values in batch for key, value in values.items()]
        project.load("extracts", "id int, value string, extracted_at timestamp", rows)
        messages = [r.message for r in next(turns).succeed("run").values()]
        by_three_clauses = start > 0 and merge_plan == "three_clause"
        assert [m.endswith("by three clauses") for m in messages] == [by_three_clauses] * len(HARD_DELETES)

    for kind in HARD_DELETES:
        found = tuples(project.sql(f"select {COLUMNS} from {{schema}}.dim_{kind} order by cast(id as string), 3"))
        assert found == apply_extracts(extracts, kind)
    next(turns).succeed("test")

    keys = project.sql("select max(invalidate_sk) as highest, count(*) as n from {schema}.dim_invalidate")[0]
    assert keys.highest == keys.n

    versions = {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES}
    next(turns).succeed("run")
    assert {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES} == versions
