"""Any sequence of full extracts gives the history that plain Python gives, in one run or in many."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness import DbtProject, tuples
from oracle import apply_extracts

MOMENTS = [datetime(2024, 1, 1, 12) + timedelta(days=n) for n in range(5)]
HARD_DELETES = ["soft_delete", "invalidate", "new_record", "ignore"]
# A dbt run takes seconds and a history a microsecond, so that each example holds many keys, each with its own history.
HISTORIES = 300

MODEL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='extracted_at', max_delete_fraction=1,
    hard_deletes='<hard_deletes>', surrogate_key='<surrogate_key>',
) }}
select * from {{ target.schema }}.extracts
"""

YAML = """
version: 2
models:
""" + "".join(
    f"""
  - name: dim_{kind}
    data_tests:
      - one_current_row_per_key
      - no_overlapping_validity
      - valid_intervals
      - versions_differ
      - deleted_rows_closed
    columns: [{{name: {kind}_sk, data_tests: [unique, not_null]}}]
"""
    for kind in HARD_DELETES
)

ABSENT = "absent"
history = st.lists(st.sampled_from([ABSENT, None, "", "a", "b"]), min_size=len(MOMENTS), max_size=len(MOMENTS))


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {"models/schema.yml": YAML}
    for number, kind in enumerate(HARD_DELETES):
        model = MODEL.replace("<hard_deletes>", kind)
        files[f"models/dim_{kind}.sql"] = model.replace("<surrogate_key>", ["hash", "sequence"][number % 2])
    return make_project(files)


@pytest.mark.parametrize("extracts_a_run", [1, 2, 5])
@settings(max_examples=1, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(histories=st.lists(history, min_size=HISTORIES, max_size=HISTORIES))
def test_extracts_give_the_same_history_as_plain_python(
    project: DbtProject, extracts_a_run: int, histories: list[list[str | None]]
) -> None:
    # One key is always there: an extract without rows is no extract.
    histories = [["a"] * len(MOMENTS), *histories]
    extracts = [
        (moment, {key: values[n] for key, values in enumerate(histories) if values[n] != ABSENT})
        for n, moment in enumerate(MOMENTS)
    ]
    for kind in HARD_DELETES:
        project.sql(f"drop table if exists {{schema}}.dim_{kind}")
    for start in range(0, len(extracts), extracts_a_run):
        batch = extracts[start : start + extracts_a_run]
        rows = [(key, value, moment) for moment, values in batch for key, value in values.items()]
        project.load("extracts", "id int, value string, extracted_at timestamp", rows)
        project.succeed("run")

    columns = "id, value, effective_from, effective_to, is_current, is_deleted"
    for kind in HARD_DELETES:
        found = tuples(project.sql(f"select {columns} from {{schema}}.dim_{kind} order by cast(id as string), 3"))
        assert found == apply_extracts(extracts, kind)
    project.succeed("test")

    keys = project.sql("select max(invalidate_sk) as highest, count(*) as n from {schema}.dim_invalidate")[0]
    assert keys.highest == keys.n

    versions = {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES}
    project.succeed("run")
    assert {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES} == versions
