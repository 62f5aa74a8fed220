"""Every statement of a load, as dbt sends it, beside the files in `golden`: made by dbt and the macros, without Spark.

`make golden` writes the files anew; their diff is what a change of the macros does to the SQL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.spark.impl import SparkAdapter
from stubbed_spark import SCHEMA, Answer, Case, StubbedSpark, Table

from harness import INVARIANTS, PROJECT_YML, DbtProject

GOLDEN = Path(__file__).parent / "golden"
DAY = 24 * 60 * 60 * 1_000_000
JANUARY_1 = 1_704_067_200_000_000

SOURCE = {"id": "int", "name": "string", "city": "string", "at": "timestamp"}
ADDED = {"effective_from": "timestamp", "effective_to": "timestamp", "is_current": "boolean", "is_deleted": "boolean"}
RECORDED = {
    "scd2.unique_key": '["id"]',
    "scd2.surrogate_key": "hash",
    "scd2.flag_values": "[true, false]",
    "scd2.open_end": "9999-12-31",
    "scd2.closing_gap": "0",
    "scd2.hard_deletes": "soft_delete",
    "scd2.unknown_member": "false",
    "scd2.columns": '["city", "id", "name"]',
    "scd2.track_columns": '["city", "name"]',
    "scd2.extracts": "2024-01-01 00:00:00,2024-01-02 00:00:00",
}
CHANGES = [
    {
        "_scd2_deleted_at": None,
        "opened": 2,
        "closed": 1,
        **dict.fromkeys(["deleted", "removed", "altered", "too_short", "without_value", "repeated"], 0),
    }
]
EMPTY: Answer = []


def config(**options: Any) -> str:
    """The configuration of a dimension, as a model writes it."""
    written = {"materialized": "scd2", "unique_key": "id", "effective_at": "at", **options}
    return "{{ config(" + ", ".join(f"{name}={value!r}" for name, value in written.items()) + ") }}"


def model(**options: Any) -> str:
    return f"{config(**options)}\nselect * from silver.people\n"


def dimension(name: str, *columns: str, **properties: str) -> dict[str, Table]:
    """A dimension as an earlier load left it."""
    stored = {
        f"{name}_sk": "string",
        f"{name}_hk": "string",
        **{column: SOURCE[column] for column in columns or ("id", "name", "city")},
        "hash_diff": "string",
        **ADDED,
    }
    return {name: Table(stored, {**RECORDED, **properties})}


def remembering(name: str) -> dict[str, Table]:
    """A dimension of a changelog, and the table of its events."""
    dimensions = dimension(name, **{"scd2.events_id": "first", "scd2.sequence_by": "[]"})
    events = {
        f"{name}_hk": "string",
        "id": "int",
        "name": "string",
        "city": "string",
        "hash_diff": "string",
        "effective_from": "timestamp",
        "_scd2_is_gone": "boolean",
    }
    return dimensions | {f"{name}__events": Table(events, {"scd2.events_id": "first"})}


def extracts(*days: int, rows: int = 3) -> Answer:
    """What is counted of full extracts, by the day of January on which they are dated."""
    return [
        {
            "first_time": JANUARY_1 + (day - 1) * DAY,
            "last_time": JANUARY_1 + (day - 1) * DAY,
            "row_count": rows,
            "null_times": 0,
            "null_keys": 0,
            "unknown_changes": 0,
            "null_sequences": 0,
        }
        for day in days
    ]


def batch(other_rows: int = 1) -> Answer:
    """What is counted of rows of single keys."""
    return [{**extracts(3)[0], "last_time": JANUARY_1 + 3 * DAY, "other_rows": other_rows}]


def compared(
    day: int, last_day: int | None = None, changes: int = 1, late_rows: int = 0, wrong_rows: int = 0
) -> Answer:
    """What is counted of an extract or a batch beside the current versions."""
    return [
        {
            "first_time": JANUARY_1 + (day - 1) * DAY,
            "last_time": JANUARY_1 + ((last_day or day) - 1) * DAY,
            "row_count": 3,
            **dict.fromkeys(["repeated", "returned", "same_hash", "unknown_members"], 0),
            **dict.fromkeys(["changed", "deleted"], changes),
            "opened": 2 * changes,
            "late_rows": late_rows,
            "wrong_rows": wrong_rows,
            "last_ending": JANUARY_1,
            "fingerprint": "3 rows, files 1",
            "high_water_mark": JANUARY_1 + DAY,
            "live": 3,
        }
    ]


# What most loads are answered; a case adds its own before these.
COMMON: dict[str, Answer] = {
    "select count(*) as events": [{"events": 5}],
    "as events\nfrom": [{"fingerprint": "3 rows, files 1", "events": 5}],
    "as high_water_mark": [{"fingerprint": "3 rows, files 1", "high_water_mark": JANUARY_1 + DAY, "live": 3}],
    "as fingerprint\nfrom": [{"fingerprint": "3 rows, files 1"}],
    "count(*) - count(distinct": [{"repeated": 0}],
    "as too_short": CHANGES,
    "as new_keys": EMPTY,
    "as least_1": [{"least_1": "1", "greatest_1": "4"}],
    "as business_key": EMPTY,
    "_scd2_last_key": [{"_scd2_last_key": 4}],
}
LOOK: Answer = [{"changed": 3, "new_rows": 1, "gone": 1, "new_twice": 0, "source_checksum": "2 rows, hashes 1"}]


def answered(own: dict[str, Answer]) -> dict[str, Answer]:
    """The answers of a case, and those of most loads."""
    return own | {text: rows for text, rows in COMMON.items() if text not in own}


def case(
    model: str, tables: dict[str, Table] | None = None, source: dict[str, str] = SOURCE, **answers: Answer
) -> Case:
    named = {
        "rows": "as first_time",
        "compared": "as wrong_rows",
        "look": "as changed,",
        "holds": "select 1 from",
        "consumed": "as version, unix",
        "stale": "where _scd2_action = 'change'",
        "detail": "describe detail",
    }
    return Case(model, source, tables or {}, answered({named[name]: rows for name, rows in answers.items()}))


EVENTS = {**SOURCE, "_change_type": "string"}
MEMBERS = {**SOURCE, "is_inferred": "boolean"}
CASES = {
    "first_load": case(model(), rows=extracts(1)),
    "several_extracts_at_first": case(model(), rows=extracts(1, 2)),
    "one_extract": case(model(), dimension("one_extract"), compared=compared(3)),
    "one_extract_of_all_options": case(
        model(
            unknown_member=True,
            surrogate_key="sequence",
            closing_gap="1 second",
            partition_by="city",
            scd2_columns={"state_hash": "state"},
        ),
        {
            "one_extract_of_all_options": Table(
                {**dimension("one_extract_of_all_options")["one_extract_of_all_options"].columns, "state": "bigint"},
                {
                    **RECORDED,
                    "scd2.unknown_member": "true",
                    "scd2.surrogate_key": "sequence",
                    "scd2.closing_gap": "1 second",
                    "scd2.state_hash": "state",
                },
            )
        },
        compared=[{**compared(3)[0], "unknown_members": 1}],
        detail=[{"sizeInBytes": 1_000, "tableFeatures": "[]", "partitionColumns": '["city"]'}],
    ),
    "one_extract_of_invalidated_keys": case(
        model(hard_deletes="invalidate"),
        dimension("one_extract_of_invalidated_keys", **{"scd2.hard_deletes": "invalidate"}),
        rows=extracts(3),
        look=LOOK,
    ),
    "several_extracts": case(
        model(), dimension("several_extracts"), compared=compared(3, 4), rows=extracts(3, 4), look=LOOK
    ),
    "unchanged": case(model(), dimension("unchanged"), compared=compared(2, changes=0)),
    "three_clauses": case(
        model(merge_plan="three_clause"), dimension("three_clauses"), rows=extracts(3), look=LOOK, holds=[{"1": 1}]
    ),
    "closed_intervals": case(
        model(
            unique_key=["id", "city"],
            hard_deletes="new_record",
            closing_gap="1 millisecond",
            open_end=None,
            surrogate_key="sequence",
            flag_values=["Y", "N"],
        ),
        rows=extracts(1, 2),
    ),
    "increment": case(model(source_kind="increment"), dimension("increment"), compared=compared(3, 4)),
    "late_increment": case(
        model(source_kind="increment"), dimension("late_increment"), compared=compared(1, 4, late_rows=1), rows=batch()
    ),
    "invalidated_increment": case(
        model(source_kind="increment", hard_deletes="invalidate", change_type="_change_type"),
        dimension("invalidated_increment", **{"scd2.hard_deletes": "invalidate"}),
        source=EVENTS,
        rows=batch(),
    ),
    "increment_at_first": case(model(source_kind="increment"), rows=batch(other_rows=0)),
    "changelog": case(model(source_kind="changelog"), source=EVENTS, rows=batch()),
    "changelog_of_single_rows": case(model(source_kind="changelog"), source=EVENTS, rows=batch(other_rows=0)),
    "next_events": case(
        model(source_kind="changelog"), remembering("next_events"), source=EVENTS, compared=compared(3, 4)
    ),
    "late_events": case(
        model(source_kind="changelog"),
        remembering("late_events"),
        source=EVENTS,
        compared=compared(1, 4, late_rows=1),
        rows=batch(),
    ),
    "placeholders_in_events": case(
        model(source_kind="changelog", unavailable_columns=["city"]),
        remembering("placeholders_in_events"),
        source=EVENTS,
        compared=compared(1, 4, wrong_rows=1),
        rows=batch(),
    ),
    "type_1_and_members": case(
        model(overwrite_columns=["city"], inferred_member="is_inferred", unknown_member=True),
        source=MEMBERS,
        rows=extracts(1),
        holds=[{"1": 1}],
    ),
    "tombstones": case(
        model(source_kind="increment", hard_deletes="new_record", change_type="_change_type", sequence_by="_ordinal"),
        {
            "tombstones": Table(
                {**dimension("tombstones")["tombstones"].columns, "_ordinal": "bigint"},
                {**RECORDED, "scd2.hard_deletes": "new_record", "scd2.columns": '["_ordinal", "city", "id", "name"]'},
            )
        },
        source={**EVENTS, "_ordinal": "bigint"},
        rows=batch(),
    ),
    "members_later": case(
        model(overwrite_columns=["city"], inferred_member="is_inferred", unknown_member=True),
        {
            "members_later": Table(
                {**dimension("members_later")["members_later"].columns, "is_inferred": "boolean"},
                {
                    **RECORDED,
                    "scd2.unknown_member": "true",
                    "scd2.columns": '["city", "id", "is_inferred", "name"]',
                    "scd2.track_columns": '["name"]',
                },
            )
        },
        source=MEMBERS,
        rows=extracts(3),
        holds=[{"1": 1}],
    ),
    "dropped_column": case(
        model(source_kind="increment"),
        dimension("dropped_column"),
        source={name: type_ for name, type_ in SOURCE.items() if name != "city"},
        rows=batch(),
    ),
    "schema_change": case(
        model(),
        dimension(
            "schema_change", "id", "name", **{"scd2.columns": '["id", "name"]', "scd2.track_columns": '["name"]'}
        ),
        rows=extracts(3),
        look=LOOK,
    ),
    "state_hash_at_first": case(model(scd2_columns={"state_hash": "state"}, unknown_member=True), rows=extracts(1)),
    "state_hash_added": case(
        model(scd2_columns={"state_hash": "state"}), dimension("state_hash_added"), rows=extracts(3), look=LOOK
    ),
    "state_hash_and_new_column": case(
        model(scd2_columns={"state_hash": "state"}, overwrite_columns=["name"]),
        {
            "state_hash_and_new_column": Table(
                {
                    **dimension("state_hash_and_new_column", "id", "city")["state_hash_and_new_column"].columns,
                    "state": "bigint",
                },
                {
                    **RECORDED,
                    "scd2.columns": '["city", "id"]',
                    "scd2.track_columns": '["city"]',
                    "scd2.state_hash": "state",
                },
            )
        },
        rows=extracts(3),
    ),
    "state_hash_in_three_clauses": case(
        model(scd2_columns={"state_hash": "state"}, hard_deletes="new_record", merge_plan="three_clause"),
        {
            "state_hash_in_three_clauses": Table(
                {**dimension("state_hash_in_three_clauses")["state_hash_in_three_clauses"].columns, "state": "bigint"},
                {**RECORDED, "scd2.hard_deletes": "new_record", "scd2.state_hash": "state"},
            )
        },
        rows=extracts(3),
        look=LOOK,
        stale=EMPTY,
        holds=[{"1": 1}],
    ),
    "copy": Case(
        "{{ config(materialized='scd1', unique_key='id') }}\nselect * from silver.changes\n",
        {"id": "int", "name": "string", "_change_type": "string", "_change_ordinal": "bigint"},
        {
            "copy": Table({"id": "int", "name": "string"}, {"scd2.ordinals_id": "1"}),
            "copy__ordinals": Table({"id": "int", "_change_ordinal": "bigint"}, {"scd2.ordinals_id": "1"}),
        },
        {
            "as business_key": EMPTY,
            "as newer": [{"older": 1, "newer": 2}],
            "as change_type": EMPTY,
            "as row_count": [{"row_count": 3, "key_count": 3, "inserted": 1, "updated": 1, "deleted": 1}],
        },
    ),
    "first_copy": Case(
        "{{ config(materialized='scd1', unique_key='id') }}\nselect * from silver.changes\n",
        {"id": "int", "name": "string", "_change_type": "string", "_change_ordinal": "bigint"},
        {},
        {"as business_key": EMPTY, "as change_type": EMPTY, "select count(*)": [{"count(1)": 3}]},
    ),
    "copy_without_some_values": Case(
        "{{ config(materialized='scd1', unique_key='id', unavailable_columns='name') }}\n"
        "select * from silver.changes\n",
        {"id": "int", "name": "string", "_change_type": "string"},
        {"copy_without_some_values": Table({"id": "int", "name": "string"}, {})},
        {
            "as business_key": EMPTY,
            "as change_type": EMPTY,
            "as row_count": [{"row_count": 3, "key_count": 3, "inserted": 1, "updated": 1, "deleted": 1}],
        },
    ),
}
# A full extract of many keys, straight out of a table, is searched for changes instead of staged.
CASES["large_extract"] = Case(
    model(),
    SOURCE,
    dimension("large_extract"),
    answered(
        {
            "describe detail": [
                {"name": "large_extract", "sizeInBytes": 10**9, "tableFeatures": "[]", "partitionColumns": "[]"}
            ],
            "as first_time": extracts(3, rows=3_000_000),
            "as high_water_mark": [
                {"fingerprint": "9 rows, files 1", "high_water_mark": JANUARY_1 + DAY, "live": 3_000_000}
            ],
            "explain ": [{"plan": "== Physical Plan ==\nFileScan parquet Location: PreparedDeltaFileIndex"}],
            "as changed,": LOOK,
            "as null_keys,": [{"source_checksum": "2 rows, hashes 1", "null_keys": 0, "repeated": 0}],
        }
    ),
)
# The changes of a Delta table since the version up to which a dimension has read it.
FOLLOWED = {"id": "int", "name": "string", "tags": "map<string,string>"}
for name, latest_by in {"followed_feed": "", "followed_feed_with_rivals": ", latest_by='name'"}.items():
    stored = {**FOLLOWED, f"{name}_commit_version": "bigint"}
    recorded = {
        **RECORDED,
        "scd2.columns": json.dumps(sorted(stored)),
        "scd2.track_columns": '["name", "tags"]',
        "scd2.events_id": "first",
        "scd2.consumed_version": "5",
        "scd2.consumed_at": "2024-01-02 00:00:00",
    }
    CASES[name] = Case(
        config(source_kind="changelog", effective_at="_commit_timestamp", sequence_by="_commit_version")
        + "\nselect * from ({{ delta_scd2.changes_since_last_run('silver.people'"
        + latest_by
        + ") }})\n",
        {**FOLLOWED, "_change_type": "string", "_commit_version": "bigint", "_commit_timestamp": "timestamp"},
        {
            "people": Table(FOLLOWED),
            name: Table(
                {f"{name}_sk": "string", f"{name}_hk": "string", **stored, "hash_diff": "string", **ADDED}, recorded
            ),
            f"{name}__events": Table(
                {
                    f"{name}_hk": "string",
                    **stored,
                    "hash_diff": "string",
                    "effective_from": "timestamp",
                    "_scd2_is_gone": "boolean",
                },
                {"scd2.events_id": "first"},
            ),
        },
        answered(
            {
                "describe detail silver": [{"format": "delta", "location": "file:/silver/people"}],
                "describe history silver": [{"version": 9, "timestamp": datetime(2024, 1, 3, tzinfo=UTC)}],
                "explain ": [{"plan": "== Physical Plan =="}],
                "as wrong_rows": compared(3, late_rows=int(bool(latest_by))),
                "as first_time": batch(),
                "as version, unix": [{"version": 9, "now": JANUARY_1 + 3 * DAY}],
            }
        ),
    )
REBUILT = {"rebuild": case(model(), dimension("rebuild"), rows=extracts(2, 3), holds=EMPTY)}
# As on a cluster, where Spark cannot keep the staged rows.
IN_TABLES = {
    "staged_in_tables": case(
        model(), dimension("staged_in_tables"), compared=compared(3, 4), rows=extracts(3, 4), look=LOOK
    )
}
FACTS = {
    "versions": 5, "keys": 3, "open_versions": 3, "first_beginning": JANUARY_1, "last_beginning": JANUARY_1 + DAY,
    "last_end": JANUARY_1 + DAY, "surrogate_keys": 0,
}  # fmt: skip
MIGRATED = {
    "migration": Case(
        model(),
        {},
        {
            **dimension("migration"),
            "old": Table({"id": "int", "name": "string", "city": "string", "since": "timestamp", "until": "timestamp"}),
        },
        answered(
            {
                "as repeats,": [{**FACTS, "last_key": None, "repeats": 0, "usual_gap": 0}],
                "as versions,": [FACTS],
                "as problem,": EMPTY,
                "select 1 from": EMPTY,
            }
        ),
    )
}
MIGRATION = (
    "{model: migration, from: gold.old, scd2_columns: {effective_from: since, effective_to: until}, apply: true}"
)
TESTS = re.findall(r"delta_scd2\.(\w+)", INVARIANTS)
TESTED = {
    "tests_of_a_dimension": Case(
        model(),
        {},
        dimension("tests_of_a_dimension"),
        {
            "from business_keys": [{test: int(test == "valid_intervals") for test in TESTS}],
            "as failures": [{"failures": 0, "should_warn": False, "should_error": False}],
        },
    )
}
COUNTED = {
    "history": Case(
        model(hard_deletes="new_record", unknown_member=True, closing_gap="1 second"),
        {},
        dimension("history"),
        {"as follows_previous": EMPTY},
    )
}
# A view, which no load writes.
READ = {
    "combined_histories": Case(
        """
        {{ config(materialized='view') }}
        {{ delta_scd2.combine_histories(
            [ref('history'), ref('several_extracts')],
            require='first',
            columns={'history': ['name'], 'several_extracts': {'name': 'other_name'}}
        ) }}
        """,
        {},
    )
}
ALL_CASES = {**CASES, **REBUILT, **IN_TABLES, **MIGRATED, **TESTED, **COUNTED, **READ}


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """The statements of each case."""
    project = DbtProject(tmp_path_factory.mktemp("project"), SCHEMA)
    models = {f"models/{name}.sql": case.model for name, case in ALL_CASES.items()}
    tests = f"models: [{{name: tests_of_a_dimension, data_tests: {INVARIANTS}}}]"
    project.write({"dbt_project.yml": PROJECT_YML, "models/schema.yml": tests, **models})
    spark = StubbedSpark(ALL_CASES)
    with pytest.MonkeyPatch.context() as patch:
        spark.install(patch)
        project.succeed("run", "--exclude", *REBUILT, *IN_TABLES, *MIGRATED, *TESTED, *COUNTED)
        with patch.context() as on_a_cluster:
            on_a_cluster.setattr(SparkAdapter, "keeps_rows", lambda _: False)
            project.succeed("run", "--select", *IN_TABLES)
        # One set of variables, so that dbt parses the project once for both.
        variables = ["--vars", "scd2_rebuild_from: '2024-01-02'"]
        project.succeed("run", "--select", *REBUILT, *variables)
        spark.operation = "migration"
        check_what_dbt_keeps(project)
        assert project.dbt("run-operation", "migrate_dimension", "--args", MIGRATION, *variables).success
        spark.operation = "tests_of_a_dimension"
        project.succeed("test", *variables, "--threads", "1")
        spark.operation = "history"
        assert project.dbt("run-operation", "print_history", "--args", "{dimensions: [history]}", *variables).success
    return spark.statements


def check_what_dbt_keeps(project: DbtProject) -> None:
    """Beside what dbt compiled stands what ran: the change set, and the MERGE that reads it."""
    (file,) = (project.directory / "target" / "run").rglob("several_extracts.sql")
    change_set, merge = file.read_text().split(";\n\n")
    assert change_set.startswith(f"create or replace temporary view {SCHEMA}__several_extracts__scd2_changes_")
    assert "_scd2_action" in change_set
    assert merge.strip().startswith(f"merge into {SCHEMA}.several_extracts as target")


@pytest.mark.parametrize("name", ALL_CASES)
def test_statements_of_a_load(name: str, statements: dict[str, list[str]], pytestconfig: pytest.Config) -> None:
    written = ";\n\n".join(statements[name]) + ";\n"
    file = GOLDEN / f"{name}.sql"
    if pytestconfig.getoption("--renew-golden"):
        file.write_text(written)
    assert written == file.read_text()


def test_no_window_function_has_a_filter() -> None:
    # Spark 4.0 cannot run one.
    for file in GOLDEN.glob("*.sql"):
        assert not re.search(r"filter \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s+over", file.read_text()), file.name


def test_no_file_is_left_of_a_case_that_went() -> None:
    assert {file.stem for file in GOLDEN.glob("*.sql")} == {*ALL_CASES}
