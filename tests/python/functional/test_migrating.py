"""Histories of another origin become those of a dimension: dbt's snapshots, and tables that were kept by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import EventMsg

from harness import INVARIANTS, ROOT, DbtProject
from oracle import COLUMNS, OPEN_END, apply_extracts

T = [datetime(2024, 1, day) for day in (1, 5, 9, 20)]
EXTRACTS = [
    (T[0], {1: "a", 2: "a", 3: "a", 4: None}),
    (T[1], {1: "b", 2: "a", 4: None, 5: "a"}),
    (T[2], {1: "a", 3: "a", 4: "", 5: "a"}),
    # 1 and 5 change, 2 returns, 3 stays, 4 goes, 6 is new
    (T[3], {1: "b", 2: "b", 3: "a", 5: None, 6: "a"}),
]

SQL = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at', max_delete_fraction=1,
    scd2_columns={'surrogate_key': 'sk', 'durable_key': 'hk', 'state_hash': 'state_hash'}, <options>
) }}
select id, value, at from {{ target.schema }}.extract
"""
PYTHON = """
def model(dbt, session):
    dbt.config(
        materialized="scd2", unique_key="id", effective_at="at", max_delete_fraction=1,
        scd2_columns={"surrogate_key": "sk", "durable_key": "hk", "state_hash": "state_hash"},
    )
    return session.table(f"{dbt.this.schema}.extract")
"""
OPTIONS = {
    "half_open": "",
    "closed": "surrogate_key='sequence', hard_deletes='invalidate', closing_gap='1 millisecond', open_end=none,"
    " flag_values=['Y', 'N']",
    "tombstones": "surrogate_key='sequence', hard_deletes='new_record'",
}
# How the tables kept by hand do it.
OLD: dict[str, dict[str, Any]] = {
    "half_open": {"scd2_columns": {"effective_from": "valid_from", "effective_to": "valid_to"}},
    "closed": {
        "scd2_columns": {
            "effective_from": "first_day",
            "effective_to": "last_day",
            "is_current": "newest",
            "is_deleted": "gone",
            "surrogate_key": "number",
        },
        "closing_gap": "1 day",
        "flag_values": ["yes", "no"],
    },
    "tombstones": {
        "scd2_columns": {
            role: role for role in ("effective_from", "effective_to", "is_current", "is_deleted", "surrogate_key")
        },
        "hard_deletes": "new_record",
    },
}


def operate(project: DbtProject, **arguments: Any) -> tuple[bool, str]:
    """Whether the migration succeeded, and what it printed or what was wrong."""
    texts: list[str] = []

    def listen(event: EventMsg) -> None:
        if event.info.name in ("PrintEvent", "RunningOperationCaughtError", "RunningOperationUncaughtError"):
            texts.append(event.info.msg)

    os.environ["DELTA_SCD2_SCHEMA"] = project.schema
    arguments["from"] = f"{project.schema}.{arguments['from']}"
    result = dbtRunner(callbacks=[listen]).invoke(
        [
            *("run-operation", "migrate_dimension", "--args", json.dumps(arguments)),
            *("--project-dir", str(project.directory), "--profiles-dir", str(ROOT)),
        ]
    )
    assert result.exception is None
    return result.success, "\n".join(texts)


def migrate(project: DbtProject, **arguments: Any) -> str:
    success, text = operate(project, **arguments)
    assert success, text
    return text


def refusal(project: DbtProject, **arguments: Any) -> str:
    success, text = operate(project, **arguments)
    assert not success, text
    return text


def load(project: DbtProject, *extracts: tuple[datetime, dict[int, Any]]) -> None:
    rows = [(key, value, at) for at, values in extracts for key, value in values.items()]
    project.load("extract", "id int, value string, at timestamp", rows)


def recorded(project: DbtProject, name: str) -> dict[str, str]:
    return {key: value for key, value in project.properties(name).items() if "scd2." in key}


def write_by_hand(project: DbtProject, extracts: Sequence[tuple[datetime, dict[int, Any]]]) -> None:
    """The history of the extracts in three shapes; the oracle alone makes it."""
    half_open = [row[:4] for row in apply_extracts(extracts)]
    project.load("half_open", "id int, value string, valid_from timestamp, valid_to timestamp", half_open)
    closed = [
        (
            100 + number,
            key,
            value,
            since.date(),
            None if until == OPEN_END else until.date() - timedelta(days=1),
            "yes" if until == OPEN_END else "no",
            "yes" if is_deleted else "no",
            "a remark",
        )
        for number, (key, value, since, until, _, is_deleted) in enumerate(apply_extracts(extracts, "invalidate"))
    ]
    ddl = "number bigint, id smallint, value string, first_day date, last_day date, newest string, gone string"
    project.load("closed", f"{ddl}, remark string", closed)
    tombstones = [(3 * number + 1, *row) for number, row in enumerate(apply_extracts(extracts, "new_record"))]
    flags = "is_current boolean, is_deleted boolean"
    project.load(
        "tombstones",
        f"surrogate_key int, id int, value string, effective_from timestamp, effective_to timestamp, {flags}",
        tombstones,
    )


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    """Dimensions without rows, and beside them one that was kept all the time."""
    files = {f"models/dim_{name}.sql": SQL.replace("<options>", text) for name, text in OPTIONS.items()}
    files["models/kept.sql"] = files.pop("models/dim_half_open.sql")
    files["models/dim_half_open.py"] = PYTHON
    entries = ", ".join(f"{{name: dim_{name}, data_tests: {INVARIANTS}}}" for name in OPTIONS)
    project = make_project({**files, "models/models.yml": f"models: [{entries}]"})
    load(project, *EXTRACTS[:3])
    project.succeed("run", "--select", "kept")
    project.succeed("run", "--empty", "--select", "dim_*")
    write_by_hand(project, EXTRACTS[:3])
    return project


def test_a_table_kept_by_hand_goes_on_as_if_it_had_always_been_kept_here(project: DbtProject) -> None:
    all_of = {
        name: {"model": f"dim_{name}", "from": name, "extracts": [str(ts) for ts in T[:3]], **arguments}
        for name, arguments in OLD.items()
    }
    version = project.version("dim_closed")
    text = migrate(project, **all_of["closed"])
    assert "9 version(s) of 5 key(s), 4 open; they begin from 2024-01-01 00:00:00 to 2024-01-09 00:00:00 UTC" in text
    assert "surrogate keys: kept, of `number`\ncolumns left behind: remark\nNothing was written" in text
    assert project.version("dim_closed") == version

    for arguments in all_of.values():
        migrate(project, **arguments, apply=True)
    assert recorded(project, "dim_half_open") == recorded(project, "kept")
    ran = project.succeed("run", "--select", "dim_*")
    assert {ran[f"dim_{name}"].message for name in OPTIONS} == {"UNCHANGED"}
    same_as_kept(project, EXTRACTS[:3])
    numbers = {name: project.history(f"dim_{name}", "sk, id, effective_from") for name in ("closed", "tombstones")}
    assert numbers["closed"] == project.history("closed", "int(number), id, timestamp(first_day) as effective_from")
    assert numbers["tombstones"] == project.history("tombstones", "surrogate_key, id, effective_from")

    load(project, EXTRACTS[3])
    project.succeed("build", "--select", "dim_*", "kept")
    same_as_kept(project, EXTRACTS)
    for name, before in numbers.items():
        after = project.history(f"dim_{name}", "sk, id, effective_from")
        assert set(before) < set(after)
        largest = max(key for key, *_ in before)
        assert sorted(key for key, *_ in set(after) - set(before)) == [
            largest + number + 1 for number in range(len(after) - len(before))
        ]


def same_as_kept(project: DbtProject, extracts: Sequence[tuple[datetime, dict[int, Any]]]) -> None:
    """All columns, hashes too, are those of the dimension that was kept; and the histories those of the oracle."""
    assert project.history("dim_half_open") == project.history("kept")
    assert project.history("dim_half_open", COLUMNS) == apply_extracts(extracts)
    assert project.history("dim_tombstones", COLUMNS) == apply_extracts(extracts, "new_record")
    closed = (
        "id, value, effective_from, coalesce(effective_to, timestamp '9999-12-31') as effective_to,"
        " is_current = 'Y' as is_current, is_deleted = 'Y' as is_deleted"
    )
    of_oracle = apply_extracts(extracts, "invalidate", gap=timedelta(milliseconds=1))
    assert project.history("dim_closed", closed) == of_oracle


SNAPSHOT = """
{% snapshot snap_<kind> %}
{{ config(unique_key='id', strategy='check', check_cols='all', hard_deletes='<kind>', target_schema=target.schema) }}
select id, value from {{ target.schema }}.extract
{% endsnapshot %}
"""
FROM_SNAPSHOT = """
{{ config(materialized='scd2', unique_key='id', hard_deletes='<kind>', max_delete_fraction=1) }}
select id, value from {{ target.schema }}.extract
"""
KINDS = ["ignore", "invalidate", "new_record"]


@pytest.fixture(scope="module")
def snapshots(make_project) -> DbtProject:
    """Three snapshots by dbt, and beside each a dimension that read the same extracts."""
    files = {}
    for kind in KINDS:
        files[f"snapshots/snap_{kind}.sql"] = SNAPSHOT.replace("<kind>", kind)
        files |= {f"models/{name}_{kind}.sql": FROM_SNAPSHOT.replace("<kind>", kind) for name in ("dim", "kept")}
    entries = ", ".join(f"{{name: dim_{kind}, data_tests: {INVARIANTS}}}" for kind in KINDS)
    project = make_project({**files, "models/models.yml": f"models: [{entries}]"})
    for extract in EXTRACTS[:3]:
        load(project, extract)
        project.succeed("build", "--select", "snap_*", "kept_*")
    project.succeed("run", "--empty", "--select", "dim_*")
    return project


def in_order(project: DbtProject, name: str) -> list[tuple[Any, ...]]:
    """The history with the number of the load in the place of its time, which is that of a run."""
    rows = project.history(name, COLUMNS)
    times = sorted({ts for row in rows for ts in row[2:4]})
    return [(*row[:2], times.index(row[2]), times.index(row[3]), *row[4:]) for row in rows]


@pytest.mark.slow
def test_a_snapshot_of_dbt_goes_on_as_if_it_had_always_been_kept_here(snapshots: DbtProject) -> None:
    project = snapshots
    for kind in KINDS:
        migrate(project, **{"model": f"dim_{kind}", "from": f"snap_{kind}", "apply": True})
    built = project.succeed("build", "--select", "dim_*")
    assert {built[f"dim_{kind}"].message for kind in KINDS} == {"UNCHANGED"}
    for kind in KINDS:
        assert in_order(project, f"dim_{kind}") == in_order(project, f"kept_{kind}")

    load(project, EXTRACTS[3])
    project.succeed("build", "--select", "dim_*", "kept_*")
    for kind in KINDS:
        assert in_order(project, f"dim_{kind}") == in_order(project, f"kept_{kind}")
        of_oracle = [(row[0], row[1], row[5]) for row in apply_extracts(EXTRACTS, kind)]
        assert [(row[0], row[1], row[5]) for row in in_order(project, f"dim_{kind}")] == of_oracle


PLAIN = {"model": "dim_plain", "scd2_columns": {"effective_from": "since", "effective_to": "until"}}
PLAIN_DDL = "id int, value string, sk int, since date, until date, newest boolean, gone boolean"


@pytest.fixture(scope="module")
def plain(make_project) -> DbtProject:
    project = make_project({"models/dim_plain.sql": SQL.replace("<options>", "surrogate_key='sequence'")})
    load(project, EXTRACTS[0])
    project.succeed("run", "--empty")
    return project


def by_hand(project: DbtProject, *rows: tuple[Any, ...]) -> None:
    """Rows of key, value, beginning and end as days of January, and the flags."""
    days = [
        (key, value, number, *(day and datetime(2024, 1, day).date() for day in (since, until)), newest, gone)
        for number, (key, value, since, until, newest, gone) in enumerate(rows)
    ]
    project.load("plain", PLAIN_DDL, days)


def test_a_tombstone_is_a_deletion(make_project) -> None:
    project = make_project({"models/dim_plain.sql": SQL.replace("<options>", "hard_deletes='ignore'")})
    load(project, EXTRACTS[0])
    project.succeed("run", "--empty")
    gone = [(1, "a", 1, 3, False, False), (1, "a", 3, 6, False, True), (1, "b", 6, None, True, False)]
    by_hand(project, *gone, (2, "b", 1, 6, False, False), (2, "c", 6, None, True, False))
    columns = {**PLAIN["scd2_columns"], "is_deleted": "gone"}
    arguments = {**PLAIN, "from": "plain", "scd2_columns": columns, "hard_deletes": "new_record", "apply": True}
    # The columns of a snapshot may have names of their own, but for one.
    project.sql("create view {schema}.renamed as select * except (gone), gone as dbt_is_deleted from {schema}.plain")
    for given in (arguments, {**PLAIN, "from": "renamed", "apply": True}):
        message = refusal(project, **given)
        assert "1 version(s) end by a deletion, and `hard_deletes` of dim_plain is `ignore`" in message
    assert project.history("dim_plain", "id") == []


@pytest.mark.slow
def test_the_numbers_of_tombstones_are_not_given_out_again(make_project) -> None:
    project = make_project({"models/dim_plain.sql": SQL.replace("<options>", "surrogate_key='sequence'")})
    load(project, EXTRACTS[0])
    project.succeed("run", "--empty")
    by_hand(project, (2, "b", 1, None, True, False), (1, "a", 1, 3, False, False), (1, "a", 3, None, True, True))
    columns = {**PLAIN["scd2_columns"], "is_deleted": "gone", "surrogate_key": "sk"}
    migrate(project, **{**PLAIN, "from": "plain", "scd2_columns": columns}, hard_deletes="new_record", apply=True)
    load(project, (datetime(2024, 1, 9), {1: "a", 2: "b"}))
    assert project.succeed("run")["dim_plain"].message == "MERGE 1 opened, 0 closed, 0 deleted, 1 altered"
    assert project.history("dim_plain", "id, sk, effective_from") == [
        (1, 1, datetime(2024, 1, 1)), (1, 3, datetime(2024, 1, 9)), (2, 0, datetime(2024, 1, 1)),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_dimension_that_follows_a_feed_goes_on_from_what_was_migrated(make_project) -> None:
    model = """
    {{ config(
        materialized='scd2', source_kind='changelog', unique_key='id', effective_at='_commit_timestamp',
        sequence_by='_commit_version', surrogate_key='sequence', scd2_columns={'surrogate_key': 'sk'}
    ) }}
    select * from ({{ delta_scd2.changes_since_last_run(target.schema ~ '.source') }})
    """
    project = make_project({"models/dim_plain.sql": model})
    project.sql("create schema if not exists {schema}")
    project.sql(
        "create table {schema}.source using delta tblproperties (delta.enableChangeDataFeed = true)"
        " as select 1 as id, 'b' as value"
    )
    project.succeed("run", "--empty")
    project.load(
        "plain",
        "sk bigint, id int, value string, _commit_version bigint, valid_from timestamp, valid_to timestamp",
        [(7, 1, "a", 0, T[0], T[1]), (9, 1, "b", 0, T[1], None)],
    )
    columns = {"effective_from": "valid_from", "effective_to": "valid_to", "surrogate_key": "sk"}
    migrate(project, **{"model": "dim_plain", "from": "plain", "scd2_columns": columns}, apply=True)
    record = recorded(project, "dim_plain")
    assert (record["scd2.consumed_version"], record["scd2.last_key"]) == ("0", "9")
    assert project.succeed("run")["dim_plain"].message == "UNCHANGED"
    project.sql("update {schema}.source set value = 'c'")
    assert project.succeed("run")["dim_plain"].message == "MERGE 1 opened, 1 closed, 0 deleted"
    assert project.history("dim_plain", "sk, value") == [(7, "a"), (9, "b"), (10, "c")]


def test_an_empty_text_is_no_value_of_a_partition(make_project, edit) -> None:
    model = "{{ config(materialized='scd2', unique_key='id', effective_at='at', partition_by='value') }}"
    project = make_project({"models/dim_plain.sql": model + " select 1 as id, 'a' as value, current_date as at"})
    project.succeed("run", "--empty")
    # The table keeps its partitions when the model names them no longer.
    edit(project.directory / "models/dim_plain.sql", ", partition_by='value'", "")
    ddl = "id int, value string, valid_from timestamp, valid_to timestamp"
    project.load("plain", ddl, [(1, "a", T[0], T[1]), (1, "", T[1], None)])
    columns = {"effective_from": "valid_from", "effective_to": "valid_to"}
    text = refusal(project, **{"model": "dim_plain", "from": "plain", "scd2_columns": columns, "apply": True})
    assert "1 version(s) have a value in `value` that Delta does not keep" in text
    assert project.history("dim_plain", "id") == []


def test_contradictions_are_told_in_one_message_before_anything_is_written(plain: DbtProject) -> None:
    by_hand(
        plain,
        (None, "null key", 1, None, True, False),
        (1, "no beginning", None, 2, False, False),
        (2, "ends when it begins", 5, 5, False, False),
        (3, "overlaps", 1, 6, False, False),
        (3, "b", 5, None, True, False),
        (4, "begins", 1, None, True, False),
        (4, "twice", 1, None, True, False),
        (5, "current", 1, 5, True, False),
        (5, "and last", 5, None, True, False),
        (6, "deleted", 1, None, True, True),
        (7, "repeated", 1, 5, False, False),
        (7, "repeated", 5, None, True, False),
        (8, "closed", 1, None, False, False),
        # The end of the gap is inclusive here, or the key was deleted: the flag decides.
        (9, "a gap", 1, 4, False, False),
        (9, "after it", 5, None, True, False),
    )
    columns = {**PLAIN["scd2_columns"], "is_current": "newest", "is_deleted": "gone", "surrogate_key": "sk"}
    before = plain.version("dim_plain")
    text = refusal(plain, **{**PLAIN, "from": "plain", "scd2_columns": columns, "apply": True})
    told = [
        "1 version(s) have a null in the business key: id null of 2024-01-01 00:00:00",
        "1 version(s) have no beginning: id 1 of no time",
        "1 version(s) end before they begin, or at that moment: id 2 of",
        "1 version(s) overlap the next version of their key: id 3 of 2024-01-01 00:00:00",
        "id 4 of 2024-01-01 00:00:00",
        "1 version(s) are marked current, though a later version follows: id 5 of 2024-01-01 00:00:00",
        "1 version(s) are open, though not marked current: id 8 of",
        "1 version(s) are marked deleted, though they have no end, or the next version begins there: id 6 of",
        "1 version(s) end before another version begins, and are not marked deleted: id 9 of 2024-01-01 00:00:00",
        "1 version(s) repeat the version before them in every tracked column: id 7 of 2024-01-05 00:00:00",
    ]
    assert [sentence for sentence in told if sentence not in text] == []
    assert "Nothing was written" in text
    assert plain.version("dim_plain") == before


def test_columns_and_arguments_are_told_in_one_message(plain: DbtProject) -> None:
    plain.load("other", "id bigint, sk string, since string, until date", [(1, "x", "2024-01-01", None)])
    columns = {"effective_from": "since", "effective_to": "untill", "surrogate_key": "sk"}
    wrong = {"scd2_columns": columns, "closing_gap": "a day", "extracts": ["soon"], "hard_deletes": "new_record"}
    text = refusal(plain, **{**PLAIN, "from": "other", **wrong})
    for sentence in (
        "`hard_deletes` is `new_record`, and no column of the old table marks its tombstones: name it as `is_deleted`",
        "`closing_gap` is `a day`, expected 0 or an interval",
        "`scd2_columns` names the column `untill`, which the old table lacks: did you mean `until`?",
        "the column `since` is string, expected a date or timestamp: cast it in a view",
        "the column `id` is bigint in the old table and int in dim_plain: cast it in a view",
        "the old table lacks the column `value` (string) of dim_plain",
        "the surrogate key `sk` is string, and `surrogate_key` of dim_plain is `sequence`",
        "`extracts` is `soon`, expected UTC timestamps",
    ):
        assert sentence in text
    assert "did you mean `dim_plain`?" in refusal(plain, **{"model": "dim_plan", "from": "other"})
    assert f"there is no table `{plain.schema}.othr`" in refusal(plain, **{**PLAIN, "from": "othr"})


def test_a_table_with_surrogate_keys_of_another_kind_is_made_anew(plain: DbtProject, edit) -> None:
    by_hand(plain, (1, "a", 1, None, True, False))
    model = plain.directory / "models/dim_plain.sql"
    edit(model, "'sequence'", "'hash'")
    text = refusal(plain, **{**PLAIN, "from": "plain"})
    edit(model, "'hash'", "'sequence'")
    assert "is int, and `surrogate_key` of dim_plain is `hash`" in text
    assert "drop it; then make it without rows by `dbt run --empty --select dim_plain`" in text


def test_dates_are_not_read_by_the_clock_of_another_zone(plain: DbtProject, time_zone) -> None:
    by_hand(plain, (1, "a", 1, 4, False, False), (1, "b", 5, None, True, False))
    with time_zone("Europe/Berlin"):
        text = refusal(plain, **{**PLAIN, "from": "plain"})
    for column in ("since", "until"):
        assert f"the column `{column}` is date, which means another moment in Europe/Berlin than in UTC" in text


def test_closed_intervals_are_not_taken_for_deletions(plain: DbtProject) -> None:
    usual = [(key, "a", 1, 4, False, False) for key in (1, 2)] + [(key, "b", 5, None, True, False) for key in (1, 2)]
    # Some versions may end where the next one begins, as where the convention changed.
    by_hand(plain, *usual, (3, "a", 1, 5, False, False), (3, "b", 5, None, True, False))
    assert "say `closing_gap: 1 day`" in refusal(plain, **{**PLAIN, "from": "plain"})


def test_versions_shorter_than_the_closing_gap_are_told(plain: DbtProject) -> None:
    plain.write({"models/dim_daily.sql": SQL.replace("<options>", "closing_gap='2 days', hard_deletes='new_record'")})
    plain.succeed("run", "--empty", "--select", "dim_daily")
    by_hand(
        plain,
        (1, "a", 1, 3, False, False),
        (1, "b", 3, 6, False, False),
        (1, "c", 6, None, True, False),
        (2, "gone, and back", 1, 6, False, False),
        (2, "b", 8, None, True, False),
        (3, "gone in a row", 1, 6, False, False),
        (3, "gone in a row", 6, 8, False, True),
        (3, "b", 8, None, True, False),
    )
    daily = {**PLAIN, "model": "dim_daily", "from": "plain", "closing_gap": 0, "hard_deletes": "new_record"}
    columns = {**PLAIN["scd2_columns"], "is_deleted": "gone"}
    text = refusal(plain, **{**daily, "scd2_columns": columns, "apply": True})
    assert "1 version(s) last no longer than the `closing_gap` of dim_daily: id 1 of 2024-01-01 00:00:00" in text
    deleted = "; ".join(f"id {key} of 2024-01-01 00:00:00" for key in (2, 3))
    assert f"2 version(s) are deleted for no longer than the `closing_gap` of dim_daily: {deleted}" in text
    assert "Choose a smaller one there" in text
    assert plain.sql("select * from {schema}.dim_daily") == []


def test_inclusive_ends_are_told_before_deletions_that_are_not_kept(plain: DbtProject) -> None:
    plain.write({"models/dim_ignoring.sql": SQL.replace("<options>", "hard_deletes='ignore'")})
    plain.succeed("run", "--empty", "--select", "dim_ignoring")
    by_hand(plain, (1, "a", 1, 4, False, False), (1, "b", 5, None, True, False))
    assert "say `closing_gap: 1 day`" in refusal(plain, **{**PLAIN, "model": "dim_ignoring", "from": "plain"})


def test_what_is_written_is_taken_back_where_it_is_not_what_was_read(
    plain: DbtProject, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand(plain, (1, "a", 1, None, True, False))
    before_statement(
        f"insert into {plain.schema}.dim_plain",
        f"insert into {plain.schema}.plain values (2, 'late', 9, date '2024-01-09', null, true, false)",
    )
    text = refusal(plain, **{**PLAIN, "from": "plain", "apply": True})
    monkeypatch.undo()
    assert (
        "1 versions were read and 2 written, and they differ in versions, keys, open versions, last beginning" in text
    )
    assert plain.sql("select * from {schema}.dim_plain") == []


@pytest.mark.slow
def test_versions_that_repeat_the_one_before_are_merged_where_that_is_asked_for(plain: DbtProject) -> None:
    by_hand(
        plain,
        (1, "a", 1, 3, False, False),
        (1, "b", 3, 4, False, False),
        (1, "b", 4, 5, False, False),
        (1, "b", 5, None, True, False),
    )
    columns = {**PLAIN["scd2_columns"], "surrogate_key": "sk"}
    arguments = {**PLAIN, "from": "plain", "scd2_columns": columns, "merge_equal_versions": True, "apply": True}
    assert "merged: 2 version(s) that repeat the one before them" in migrate(plain, **arguments)
    found = plain.history("dim_plain", "sk, value, day(effective_from), year(effective_to), is_current")
    assert found == [(0, "a", 1, 2024, False), (1, "b", 3, 9999, True)]

    assert plain.dbt("run-operation", "undo_load", "--args", "{model: dim_plain, apply: true}").success
    assert plain.sql("select * from {schema}.dim_plain") == []
    migrate(plain, **arguments)
    # The numbers 2 and 3 were given out.
    load(plain, (T[1], {1: "c"}))
    plain.succeed("run")
    assert plain.history("dim_plain", "sk")[-1] == (4,)
    assert "holds rows already" in refusal(plain, **arguments)


def test_placeholders_are_not_taken_for_values(plain: DbtProject) -> None:
    options = "materialized='scd2', unique_key='id', source_kind='changelog', effective_at='at', change_type='kind'"
    query = "select 1 as id, 'a' as value, timestamp '2024-01-01' as at, 'update' as kind where {{ not flags.EMPTY }}"
    plain.write({"models/dim_placed.sql": f"{{{{ config({options}, unavailable_columns='value') }}}} {query}"})
    plain.succeed("run", "--empty", "--select", "dim_placed")
    placeholder = "__debezium_unavailable_value"
    by_hand(plain, (1, placeholder, 1, 3, False, False), (1, "b", 3, None, True, False))
    text = refusal(plain, **{**PLAIN, "model": "dim_placed", "from": "plain", "apply": True})
    assert f"1 version(s) hold `{placeholder}` in place of a value: id 1 of 2024-01-01 00:00:00" in text
    assert plain.sql("select * from {schema}.dim_placed") == []
