"""Late and repaired extracts: the history is rebuilt from a date on, and what lies before it stays."""

from __future__ import annotations

from datetime import datetime

import pytest

from harness import INVARIANTS, DbtProject
from oracle import COLUMNS, apply_extracts

DDL = "id int, value string, at timestamp"
WARNINGS_ARE_ERRORS = ["--warn-error-options", '{"error": ["JinjaLogWarning"]}']
T = [datetime(2024, 1, n) for n in range(1, 7)]
HARD_DELETES = ["soft_delete", "invalidate", "new_record", "ignore"]
MODEL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at', surrogate_key='sequence', max_delete_fraction=1,
    hard_deletes='<kind>', scd2_columns={'surrogate_key': 'sk'},
) }}
select * from {{ target.schema }}.extracts
"""
CAREFUL = """
{{ config(materialized='scd2', unique_key='id', effective_at='at') }}
select * from {{ target.schema }}.extracts
"""

EXTRACTS = {
    T[0]: {1: "a", 2: "a", 3: "a", 4: "a"},
    T[1]: {1: "b", 2: "a", 4: "a"},
    T[3]: {1: "c", 2: "a", 3: "a", 5: "a"},
    T[4]: {1: "c", 2: "d", 3: "a", 5: "b"},
}
# The extract of T[2] comes late, that of T[3] was repaired, and the first is no longer in the source.
REPAIRED = {
    T[1]: EXTRACTS[T[1]],
    T[2]: {1: "x", 2: "a", 4: "a", 5: "a"},
    T[3]: {1: "b", 2: "a", 5: "a"},
    T[4]: EXTRACTS[T[4]],
}


def rows(extracts: dict[datetime, dict[int, str]]) -> list[tuple]:
    return [(key, value, ts) for ts, values in extracts.items() for key, value in values.items()]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    names = {f"dim_{kind}": kind for kind in HARD_DELETES}
    entries = ", ".join(f"{{name: {name}, data_tests: {INVARIANTS}}}" for name in names)
    files = {f"models/{name}.sql": MODEL.replace("<kind>", kind) for name, kind in names.items()}
    files["models/other/dim_careful.sql"] = CAREFUL
    files["models/other/dim_undated.sql"] = CAREFUL.replace(", effective_at='at'", "")
    files["models/other/dim_increment.sql"] = CAREFUL.replace(
        ", effective_at", ", source_kind='increment', effective_at"
    )
    project = make_project({**files, "models/schema.yml": f"models: [{entries}]"})
    project.load("extracts", DDL, rows(EXTRACTS))
    project.succeed("run", "--exclude", "other")
    return project


def test_a_rebuilt_history_equals_one_built_in_order(project: DbtProject) -> None:
    for kind in HARD_DELETES:
        assert project.history(f"dim_{kind}", COLUMNS) == apply_extracts([*EXTRACTS.items()], kind)
    keys = {
        kind: {row[1:]: row[0] for row in project.history(f"dim_{kind}", "sk, id, effective_from")}
        for kind in HARD_DELETES
    }
    project.load("extracts", DDL, rows(REPAIRED))
    message = project.fail("run", "--select", "dim_invalidate")
    assert "the extract of 2024-01-03 00:00:00 UTC comes too late" in message
    assert "dbt run --select dim_invalidate --vars '{scd2_rebuild_from: \"2024-01-03 00:00:00\"}'" in message

    project.succeed("run", "--exclude", "other", "--vars", "{scd2_rebuild_from: 2024-01-03}")
    repaired = {T[0]: EXTRACTS[T[0]], **REPAIRED}
    project.load("extracts", DDL, rows(repaired))
    project.succeed("test")
    for kind in HARD_DELETES:
        assert project.history(f"dim_{kind}", COLUMNS) == apply_extracts([*repaired.items()], kind)
        after = {row[1:]: row[0] for row in project.history(f"dim_{kind}", "sk, id, effective_from")}
        # A version that begins where it began keeps its key; a new one gets one that was never given out.
        assert all(after[version] == keys[kind][version] for version in after.keys() & keys[kind].keys())
        assert len(after.keys() & keys[kind].keys()) >= 7
        new = [after[version] for version in after.keys() - keys[kind].keys()]
        assert min(new) > max(keys[kind].values())
        assert len(set(after.values())) == len(after)

    versions = {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES}
    project.succeed("run", "--exclude", "other")
    assert {kind: project.version(f"dim_{kind}") for kind in HARD_DELETES} == versions


def test_an_extract_that_the_source_lost_is_named(project: DbtProject) -> None:
    project.load("extracts", DDL, rows({T[4]: EXTRACTS[T[4]]}))
    message = project.fail(
        *WARNINGS_ARE_ERRORS, "run", "--select", "dim_invalidate", "--vars", "{scd2_rebuild_from: 2024-01-04}"
    )
    assert (
        "rebuilt without the extract(s) of 2024-01-04 00:00:00, which the source no longer has; `undo_load`" in message
    )
    message = project.fail("run", "--select", "dim_invalidate", "--vars", "{scd2_rebuild_from: 2024-02-01}")
    assert "the source has no extract from 2024-02-01 00:00:00 UTC on" in message
    message = project.fail("run", "--select", "dim_invalidate", "--vars", "{scd2_rebuild_from: soon}")
    assert "`scd2_rebuild_from` is `soon`" in message


def test_a_rebuild_that_deletes_too_much_is_refused(project: DbtProject) -> None:
    project.load("extracts", DDL, rows({T[0]: EXTRACTS[T[0]]}))
    project.succeed("run", "--select", "dim_careful")
    before = project.version("dim_careful")
    project.load("extracts", DDL, rows({T[0]: EXTRACTS[T[0]], T[1]: {1: "b"}}))
    for variables in ([], ["--vars", "{scd2_rebuild_from: 2024-01-02}"]):
        message = project.fail("run", "--select", "dim_careful", *variables)
        assert "the extract of 2024-01-02 00:00:00 UTC would delete 3 of 4 live keys" in message
        assert "id 2; id 3; id 4" in message
    assert project.version("dim_careful") == before


def test_what_has_no_extracts_is_not_rebuilt_from_one(project: DbtProject) -> None:
    project.load("extracts", DDL, rows({T[0]: EXTRACTS[T[0]]}))
    project.succeed("run", "--select", "dim_increment", "dim_undated")
    for name, reason in {
        "dim_increment": "rebuilds from full extracts, and `source_kind` is `increment`",
        "dim_undated": "rebuilds from extracts told apart by `effective_at`, which this model does not have",
    }.items():
        message = project.fail("run", "--select", name, "--vars", "{scd2_rebuild_from: 2024-01-02}")
        assert f"{name}: `scd2_rebuild_from` {reason}" in message
        assert "leave this model out of the run" in message
