"""Each invariant's test finds what violates it, names the keys, and leaves a sound table alone."""

from __future__ import annotations

from datetime import date

import pytest

from harness import DbtProject

DDL = "id int, value string, valid_from date, valid_to date, current string, deleted string"
END = date(9999, 12, 31)

# How a table keeps its history, as arguments of the tests, and rows of one that is sound.
SOUND = {
    "soft_delete": (
        {"hard_deletes": "soft_delete"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "b", "2024-01-02", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "Y"),
            (2, "a", "2024-01-03", None, "Y", "N"),
            (3, None, "2024-01-01", "2024-01-02", "Y", "Y"),
        ],
    ),
    "invalidate": (
        {"hard_deletes": "invalidate"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "b", "2024-01-02", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "Y"),
        ],
    ),
    "new_record": (
        {"hard_deletes": "new_record"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "a", "2024-01-02", "2024-01-03", "N", "Y"),
            (1, "a", "2024-01-03", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (2, "a", "2024-01-02", None, "Y", "Y"),
        ],
    ),
    "gap": (
        {"closing_gap": "'1 day'"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "b", "2024-01-03", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "Y"),
            (2, "a", "2024-01-04", None, "Y", "N"),
        ],
    ),
}
# Rows that a test has to find in such a table, each key by itself.
VIOLATIONS = {
    ("soft_delete", "one_current_row_per_key"): [
        (9, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (9, "b", "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", None, "N", "N"),
        (11, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (11, "b", "2024-01-02", None, "N", "N"),
        (12, "a", "2024-01-01", None, None, "N"),
    ],
    ("invalidate", "one_current_row_per_key"): [
        (9, "a", "2024-01-01", None, "N", "N"),
        (10, "a", "2024-01-01", "2024-01-02", "Y", "Y"),
        (11, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (11, "b", "2024-01-02", "2024-01-03", "N", "Y"),
    ],
    ("soft_delete", "no_overlapping_validity"): [
        (9, "a", "2024-01-01", "2024-01-05", "N", "N"),
        (9, "b", "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", None, "N", "N"),
        (10, "b", "2024-01-02", None, "Y", "N"),
    ],
    ("gap", "no_overlapping_validity"): [
        (9, "a", "2024-01-01", "2024-01-03", "N", "N"),
        (9, "b", "2024-01-03", None, "Y", "N"),
    ],
    ("soft_delete", "valid_intervals"): [
        (9, "a", "2024-01-03", "2024-01-02", "Y", "N"),
        (10, "a", None, None, "Y", "N"),
        (11, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (11, "b", "2024-01-03", None, "Y", "N"),
        (12, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (13, "a", "2024-01-01", "2024-01-02", "N", "Y"),
        (13, "b", "2024-01-02", None, "Y", "N"),
    ],
    ("gap", "valid_intervals"): [
        (9, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (9, "b", "2024-01-04", None, "Y", "N"),
    ],
    ("soft_delete", "versions_differ"): [
        (9, None, "2024-01-01", "2024-01-02", "N", "N"),
        (9, None, "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (10, "a", "2024-01-02", "2024-01-03", "Y", "Y"),
    ],
    ("new_record", "versions_differ"): [
        (9, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (9, "a", "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (10, "a", "2024-01-02", "2024-01-03", "N", "Y"),
        (10, "a", "2024-01-03", None, "Y", "Y"),
    ],
    ("soft_delete", "deleted_rows_closed"): [
        (9, "a", "2024-01-01", None, "Y", "Y"),
        (10, "a", "2024-01-01", None, "Y", None),
        (11, "a", "2024-01-01", None, "Y", "no"),
    ],
    ("invalidate", "deleted_rows_closed"): [
        (9, "a", "2024-01-01", "2024-01-02", "Y", "Y"),
    ],
    ("new_record", "deleted_rows_closed"): [
        (9, "a", "2024-01-01", None, "N", "Y"),
    ],
}

ACCEPTED_ARGUMENTS = {
    "one_current_row_per_key": [
        "unique_key", "effective_from", "is_current", "is_deleted", "flag_values", "hard_deletes",
    ],
    "no_overlapping_validity": ["unique_key", "effective_from", "effective_to", "closing_gap"],
    "valid_intervals": [
        "unique_key", "effective_from", "effective_to", "is_deleted", "flag_values", "open_end", "closing_gap",
        "hard_deletes",
    ],
    "versions_differ": ["unique_key", "effective_from", "is_deleted", "flag_values", "hard_deletes", "track_columns"],
    "deleted_rows_closed": [
        "unique_key", "effective_from", "effective_to", "is_current", "is_deleted", "flag_values", "open_end",
        "hard_deletes",
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


def attached(test: str, values: dict[str, str]) -> str:
    arguments = "".join(f"            {n}: {values[n]}\n" for n in ACCEPTED_ARGUMENTS[test] if n in values)
    return f"      - delta_scd2.{test}:\n          arguments:\n{arguments}"


def table_of(kind: str, test: str) -> str:
    return f"{kind}_{test}"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    tables = {f"sound_{kind}": (kind, list(ACCEPTED_ARGUMENTS), []) for kind in SOUND}
    tables |= {table_of(kind, test): (kind, [test], rows) for (kind, test), rows in VIOLATIONS.items()}
    yaml = "version: 2\nmodels:\n"
    files = {}
    for table, (kind, tests, _) in tables.items():
        files[f"models/of_{table}.sql"] = f"select * from {{{{ target.schema }}}}.{table}"
        values = VALUES | SOUND[kind][0]
        yaml += f"  - name: of_{table}\n    data_tests:\n" + "".join(attached(test, values) for test in tests)
    project = make_project({**files, "models/schema.yml": yaml})
    for table, (kind, _, rows) in tables.items():
        dated = [
            (key, value, since and date.fromisoformat(since), date.fromisoformat(until) if until else END, *flags)
            for key, value, since, until, *flags in SOUND[kind][1] + rows
        ]
        project.load(table, DDL, dated)
    project.succeed("run")
    return project


def test_sound_tables_pass(project: DbtProject) -> None:
    assert len(project.succeed("test", "--select", "of_sound_*")) == len(SOUND) * len(ACCEPTED_ARGUMENTS)


def test_violations_are_found_with_their_keys(project: DbtProject) -> None:
    result = project.dbt("test", "--exclude", "of_sound_*", "--store-failures")
    failures = {r.node.attached_node.split(".of_")[1]: r.node.relation_name for r in result.result.results}
    assert {r.status for r in result.result.results} == {"fail"}
    assert set(failures) == {table_of(*case) for case in VIOLATIONS}
    for case, rows in VIOLATIONS.items():
        found = project.sql(f"select id from {failures[table_of(*case)]}")
        assert {row.id for row in found} == {key for key, *_ in rows}, case
