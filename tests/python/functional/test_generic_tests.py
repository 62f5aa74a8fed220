"""Each invariant's test finds a table that violates it, names the key, and leaves a sound table alone."""

from __future__ import annotations

from datetime import date

import pytest

from harness import DbtProject

DDL = "id int, value string, valid_from date, valid_to date, current string, deleted string"
END = date(9999, 12, 31)

SOUND = [
    (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
    (1, "b", "2024-01-02", None, "Y", "N"),
    (2, "a", "2024-01-01", "2024-01-02", "N", "Y"),
    (2, "a", "2024-01-03", None, "Y", "N"),
    (3, None, "2024-01-01", "2024-01-02", "Y", "Y"),
]

# test: rows added to the sound table, all of key 9
VIOLATIONS = {
    "one_current_row_per_key": [
        (9, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (9, "b", "2024-01-02", None, "Y", "N"),
    ],
    "no_overlapping_validity": [
        (9, "a", "2024-01-01", "2024-01-05", "N", "N"),
        (9, "b", "2024-01-02", None, "Y", "N"),
    ],
    "valid_intervals": [
        (9, "a", "2024-01-03", "2024-01-02", "Y", "N"),
    ],
    "versions_differ": [
        (9, None, "2024-01-01", "2024-01-02", "N", "N"),
        (9, None, "2024-01-02", None, "Y", "N"),
    ],
    "deleted_rows_closed": [
        (9, "a", "2024-01-01", None, "Y", "Y"),
    ],
}


ACCEPTED_ARGUMENTS = {
    "one_current_row_per_key": ["unique_key", "is_current", "flag_values"],
    "no_overlapping_validity": ["unique_key", "effective_from", "effective_to"],
    "valid_intervals": ["unique_key", "effective_from", "effective_to", "is_deleted", "flag_values"],
    "versions_differ": ["unique_key", "effective_from", "is_deleted", "flag_values", "track_columns"],
    "deleted_rows_closed": [
        "unique_key", "effective_from", "effective_to", "is_current", "is_deleted", "flag_values", "open_end",
    ],
}  # fmt: skip

VALUES = {
    "unique_key": "id",
    "effective_from": "valid_from",
    "effective_to": "valid_to",
    "is_current": "current",
    "is_deleted": "deleted",
    "flag_values": "['Y', 'N']",
    "open_end": "'9999-12-31'",
    "track_columns": "[value]",
}


def attached(test: str) -> str:
    arguments = "".join(f"            {name}: {VALUES[name]}\n" for name in ACCEPTED_ARGUMENTS[test])
    return f"      - {test}:\n          arguments:\n{arguments}"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    yaml = "version: 2\nmodels:\n"
    files = {}
    for table in ["sound", *VIOLATIONS]:
        files[f"models/of_{table}.sql"] = f"select * from {{{{ target.schema }}}}.{table}"
        tests = VIOLATIONS if table == "sound" else [table]
        yaml += f"  - name: of_{table}\n    data_tests:\n" + "".join(attached(test) for test in tests)
    project = make_project({**files, "models/schema.yml": yaml})
    for table, rows in {"sound": [], **VIOLATIONS}.items():
        dated = [
            (key, value, *(END if day is None else date.fromisoformat(day) for day in days), current, deleted)
            for key, value, *days, current, deleted in SOUND + rows
        ]
        project.load(table, DDL, dated)
    project.succeed("run")
    return project


def test_sound_table_passes(project: DbtProject) -> None:
    assert len(project.succeed("test", "--select", "of_sound")) == len(VIOLATIONS)


def test_violations_are_found_with_their_keys(project: DbtProject) -> None:
    result = project.dbt("test", "--exclude", "of_sound", "--store-failures")
    by_test = {r.node.test_metadata.name: r for r in result.result.results}
    assert {name: by_test[name].status for name in VIOLATIONS} == dict.fromkeys(VIOLATIONS, "fail")
    for name in VIOLATIONS:
        failures = by_test[name].node.relation_name
        assert {row.id for row in project.sql(f"select id from {failures}")} == {9}
