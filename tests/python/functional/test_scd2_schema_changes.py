"""Columns that come, go and change their type under a history."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import pytest

from harness import INVARIANTS, DbtProject, tuples

WARNINGS_ARE_ERRORS = ["--warn-error-options", '{"error": ["JinjaLogWarning"]}']
T = [datetime(2024, 1, n) for n in range(1, 9)]
LANGUAGES = ["sql", "py"]
SQL_MODEL = """
{{ config(materialized='scd2', unique_key='id', effective_at='at', hard_deletes='invalidate'<options>) }}
select * from {{ target.schema }}.<source>
"""
PYTHON_MODEL = """
def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="id", effective_at="at", hard_deletes="invalidate")
    return dbt.source("silver", "things")
"""


def sql_model(source: str, options: str = "") -> str:
    return SQL_MODEL.replace("<source>", source).replace("<options>", options)


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    return make_project(
        {
            "models/dim_sql.sql": sql_model("things"),
            "models/dim_py.py": PYTHON_MODEL,
            "models/strict/dim_fail.sql": sql_model("strict", ", on_schema_change='fail'"),
            "models/strict/dim_ignore.sql": sql_model("strict", ", on_schema_change='ignore'"),
            "models/strict/dim_append.sql": sql_model("strict"),
            "models/schema.yml": 'version: 2\nsources: [{name: silver, schema: "{{ target.schema }}", '
            "tables: [{name: things}]}]\nmodels:\n"
            + "".join(f"  - {{name: dim_{language}, data_tests: {INVARIANTS}}}\n" for language in LANGUAGES),
        }
    )


def load(project: DbtProject, ddl: str, rows: list[tuple], names: Sequence[str] = ("dim_sql", "dim_py")) -> list[str]:
    """Load an extract into models and return their messages."""
    project.load("things", ddl, rows)
    results = project.succeed("run", "--select", *names)
    return [results[name].message for name in names]


def history(project: DbtProject, name: str, columns: str) -> list[tuple]:
    return project.history(name, f"{columns}, effective_from, is_current")


def test_columns_come_and_go(project: DbtProject) -> None:
    first = [(1, 1, T[0]), (2, 1, T[0]), (3, 1, T[0]), (4, 1, T[0])]
    load(project, "id int, size int, at timestamp", [*first, (1, 2, T[1]), (2, 1, T[1]), (3, 1, T[1])])

    # A new column fills what is current, at the extract that was loaded before as well, and opens nothing.
    messages = load(
        project,
        "id int, size int, colour string, at timestamp",
        [(1, 2, "red", T[1]), (2, 1, None, T[1]), (3, 1, "blue", T[1])],
    )
    assert messages == ["MERGE 0 opened, 0 closed, 0 deleted, 5 altered"] * 2
    for language in LANGUAGES:
        assert history(project, f"dim_{language}", "id, size, colour") == [
            (1, 1, None, T[0], False),
            (1, 2, "red", T[1], True),
            (2, 1, None, T[0], True),
            (3, 1, "blue", T[0], True),
            (4, 1, None, T[0], False),
        ]
    # From then on it is compared; a version that opens for another reason leaves the one before it alone.
    load(
        project,
        "id int, size int, colour string, at timestamp",
        [(1, 2, "green", T[2]), (2, 1, None, T[2]), (3, 1, "blue", T[2])],
        names=["dim_sql"],
    )
    messages = load(
        project,
        "id int, size bigint, colour string, weight decimal(9,2), at timestamp",
        [(1, 2, "green", None, T[3]), (2, 7, "red", None, T[3]), (3, 1, "blue", None, T[3])],
        names=["dim_sql"],
    )
    assert messages == ["MERGE 1 opened, 1 closed, 0 deleted, 5 altered"]
    expected = [
        (1, 1, None, None, T[0], False),
        (1, 2, "red", None, T[1], False),
        (1, 2, "green", None, T[2], True),
        (2, 1, None, None, T[0], False),
        (2, 7, "red", None, T[3], True),
        (3, 1, "blue", None, T[0], True),
        (4, 1, None, None, T[0], False),
    ]
    assert history(project, "dim_sql", "id, size, colour, weight") == expected
    assert project.sql("describe {schema}.dim_sql size")[1].info_value == "bigint"

    # A column that is gone keeps what it held, is null in new versions, and makes none by itself.
    columns = "id int, size bigint, weight decimal(9,2), at timestamp"
    rows = [(1, 2, None, T[4]), (2, 8, None, T[4]), (3, 1, None, T[4])]
    project.load("things", columns, rows)
    message = project.fail(*WARNINGS_ARE_ERRORS, "run", "--select", "dim_sql")
    assert "the model no longer returns the column `colour`, which is null from now on" in message
    messages = load(project, columns, rows, names=["dim_sql"])
    assert messages == ["MERGE 1 opened, 1 closed, 0 deleted, 2 altered"]
    expected[4:5] = [(2, 7, "red", None, T[3], False), (2, 8, None, None, T[4], True)]
    assert history(project, "dim_sql", "id, size, colour, weight") == expected
    assert load(project, columns, rows, names=["dim_sql"]) == ["UNCHANGED"]

    # A Python model, for which one column comes and another goes at once.
    project.succeed("run", "--select", "dim_py")
    assert history(project, "dim_py", "id, size, colour, weight") == [
        (1, 1, None, None, T[0], False),
        (1, 2, "red", None, T[1], True),
        (2, 1, None, None, T[0], False),
        (2, 8, None, None, T[4], True),
        (3, 1, "blue", None, T[0], True),
        (4, 1, None, None, T[0], False),
    ]

    # And when it comes back, it fills what is empty.
    load(
        project,
        "id int, size bigint, colour string, weight decimal(11,3), at timestamp",
        [(1, 2, "green", None, T[5]), (2, 8, "red", None, T[5]), (3, 1, "black", None, T[5])],
        names=["dim_sql"],
    )
    expected[5:7] = [
        (2, 8, "red", None, T[4], True),
        (3, 1, "blue", None, T[0], False),
        (3, 1, "black", None, T[5], True),
    ]
    assert history(project, "dim_sql", "id, size, colour, weight") == expected
    project.succeed("test", "--select", "dim_sql", "dim_py")


def test_a_type_that_narrows_or_turns_is_named(project: DbtProject) -> None:
    before = [project.version(f"dim_{language}") for language in LANGUAGES]
    project.load("things", "id int, size int, colour int, weight decimal(11,3), at timestamp", [(1, 2, 1, None, T[7])])
    for language in LANGUAGES:
        message = project.fail("run", "--select", f"dim_{language}")
        assert "the column `size` is int in the model and bigint in" in message
        assert "the column `colour` is int in the model and string in" in message
    assert [project.version(f"dim_{language}") for language in LANGUAGES] == before


def test_the_history_of_a_renamed_column_is_kept_under_its_old_name(make_project) -> None:
    project = make_project({"models/dim_moved.sql": sql_model("moved")})
    project.load("moved", "id int, city string, at timestamp", [(1, "Bern", T[0]), (2, "Chur", T[0])])
    project.succeed("run")
    project.load("moved", "id int, town string, at timestamp", [(1, "Thun", T[1]), (2, "Chur", T[1])])
    # Without the advice, the new city of 1 would be taken for that of its old version.
    assert project.succeed("run")["dim_moved"].message == "MERGE 0 opened, 0 closed, 0 deleted, 2 altered"
    assert project.dbt("run-operation", "undo_load", "--args", "{model: dim_moved, apply: true}").success
    project.write({"models/dim_moved.sql": sql_model("moved").replace("*", "* except (town), town as city")})
    assert project.succeed("run")["dim_moved"].message == "MERGE 1 opened, 1 closed, 0 deleted"
    found = project.sql("select id, city, effective_from from {schema}.dim_moved order by id, effective_from")
    assert tuples(found) == [(1, "Bern", T[0]), (1, "Thun", T[1]), (2, "Chur", T[0])]
    assert "town" not in [row.col_name for row in project.sql("describe {schema}.dim_moved")]


def test_fail_and_ignore(project: DbtProject) -> None:
    project.load("strict", "id int, size int, at timestamp", [(1, 1, T[0]), (2, 1, T[0])])
    project.succeed("run", "--select", "strict")
    before = project.version("dim_fail")
    project.load("strict", "id int, colour string, at timestamp", [(1, "red", T[1]), (2, None, T[1])])
    message = project.fail("run", "--select", "dim_fail")
    assert "the model returns the column `colour`, which" in message
    assert "holds the column `size`, which the model does not return" in message
    assert project.version("dim_fail") == before

    project.load("strict", "id int, size int, colour string, at timestamp", [(1, 1, "red", T[1]), (2, 2, None, T[1])])
    assert (
        project.succeed("run", "--select", "dim_ignore")["dim_ignore"].message == "MERGE 1 opened, 1 closed, 0 deleted"
    )
    assert "colour" not in [row.col_name for row in project.sql("describe {schema}.dim_ignore")]


EVENTS = """
{{ config(materialized='scd2', source_kind='<kind>', unique_key='id', effective_at='at', change_type='op') }}
select *, if(size is null, 'delete', 'update') as op from {{ target.schema }}.batch
"""
OVERWRITING = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at',
    overwrite_columns=<overwritten>
) }}
select * from {{ target.schema }}.batch
"""


def test_a_new_column_fills_what_a_batch_speaks_of(make_project) -> None:
    kinds = ["increment", "changelog"]
    project = make_project({f"models/dim_{kind}.sql": EVENTS.replace("<kind>", kind) for kind in kinds})
    plain, coloured = "id int, size int, at timestamp", "id int, size int, colour string, at timestamp"
    # The second brings rows of the first once more, and one that is neither the first nor the last of its version.
    again = [(1, 10, "red", T[0]), (1, 11, "blue", T[1]), (3, 30, "grey", T[2]), (4, 40, "pink", T[0])]
    for columns, rows, message in (
        (
            plain,
            [(1, 10, T[0]), (1, 11, T[1]), (2, 20, T[0]), (3, 30, T[0]), (3, 31, T[4]), (4, 40, T[0]), (4, None, T[3])],
            "CREATE 6 opened, 2 closed, 1 deleted",
        ),
        (coloured, [*again, (3, 30, "white", T[2])], "different rows of one key have the same `at`: id 3."),
        (coloured, again, "MERGE 0 opened, 0 closed, 0 deleted, 6 altered"),
        (coloured, again, "UNCHANGED"),
        (coloured, [(1, 11, "green", T[3]), (2, 20, "black", T[3])], "MERGE 2 opened, 2 closed, 0 deleted"),
    ):
        project.load("batch", columns, rows)
        if message.startswith("different"):
            assert project.fail("run").count(message) == len(kinds)
        else:
            assert {r.message for r in project.succeed("run").values()} == {message}
    for kind in kinds:
        columns = "id, size, colour, effective_from, is_current"
        found = project.sql(f"select {columns} from {{schema}}.dim_{kind} order by 1, 4")
        assert tuples(found) == [
            (1, 10, "red", T[0], False),
            (1, 11, "blue", T[1], False),
            (1, 11, "green", T[3], True),
            (2, 20, None, T[0], False),
            (2, 20, "black", T[3], True),
            (3, 30, "grey", T[0], False),
            (3, 31, None, T[4], True),
            (4, 40, "pink", T[0], True),
        ], kind
    # Events of other columns cannot be compared, so those of before are not kept.
    events = project.sql("select distinct colour from {schema}.dim_changelog__events order by 1")
    assert [row.colour for row in events] == ["black", "blue", "green", "grey", "pink", "red"]


def test_a_new_column_does_not_fill_a_version_that_ended_before(make_project) -> None:
    extracts = OVERWRITING.replace("    overwrite_columns=<overwritten>", "    hard_deletes='<deletes>'")
    kinds = ("soft_delete", "ignore")
    models = {f"models/extracts/dim_{kind}.sql": extracts.replace("<deletes>", kind) for kind in kinds}
    models["models/dim_increment.sql"] = EVENTS.replace("<kind>", "increment")
    project = make_project(models)
    plain, coloured = "id int, size int, at timestamp", "id int, size int, colour string, at timestamp"
    project.load("batch", plain, [(1, 10, T[0]), (2, 10, T[0])])
    project.succeed("run")
    # The first of two extracts lacks 1, which comes again with the second.
    project.load("batch", coloured, [(2, 10, "x", T[1]), (1, 10, "red", T[2]), (2, 10, "x", T[2])])
    project.succeed("run", "--select", "extracts")
    project.load("batch", coloured, [(1, None, None, T[1]), (1, 10, "red", T[2])])
    project.succeed("run", "--select", "dim_increment")
    for name in ("dim_soft_delete", "dim_ignore", "dim_increment"):
        found = project.sql(f"select colour, effective_from from {{schema}}.{name} where id = 1 order by 2")
        assert tuples(found) == [(None, T[0]), ("red", T[2])], name


UNTIL = "select * from {{ target.schema }}.batch where at <= timestamp '{{ var('until') }}'"


def test_several_extracts_fill_a_new_column_as_they_do_one_by_one(make_project) -> None:
    config = "{{ config(materialized='scd2', unique_key='id', effective_at='at', max_delete_fraction=1) }}"
    project = make_project({f"models/dim_{name}.sql": f"{config}\n{UNTIL}" for name in ("together", "single")})

    def run(until: datetime, *names: str) -> None:
        project.succeed("run", "--select", *names, "--vars", f"{{until: '{until}'}}")

    project.load("batch", "id int, size int, at timestamp", [(key, 10, T[0]) for key in range(1, 5)])
    run(T[0], "dim_together", "dim_single")
    # The source keeps the extract that is applied, and returns the new column there, too.
    rows = [
        *[(1, 10, "red", T[0]), (1, 10, "blue", T[1]), (1, 10, "blue", T[2])],
        *[(2, 10, "red", T[0]), (2, 10, "blue", T[2])],
        *[(3, 10, "red", T[0]), (3, 11, "blue", T[1]), (3, 11, "blue", T[2])],
        *[(4, 10, None, T[0]), (4, 10, "blue", T[1]), (4, 10, "blue", T[2])],
    ]
    project.load("batch", "id int, size int, colour string, at timestamp", rows)
    for until in T[1:3]:
        run(until, "dim_single")
    run(T[2], "dim_together")
    assert project.history("dim_together") == project.history("dim_single")
    assert project.history("dim_together", "id, colour, effective_from") == [
        *[(1, "red", T[0]), (1, "blue", T[1])],
        *[(2, "red", T[0]), (2, "blue", T[2])],
        *[(3, "red", T[0]), (3, "blue", T[1])],
        *[(4, None, T[0]), (4, "blue", T[1])],
    ]


@pytest.mark.parametrize(("kind", "adds_and_merges"), [("snapshot", True), ("increment", False)])
def test_a_column_of_a_load_that_failed_to_be_recorded_is_not_new_again(
    make_project, before_statement, kind: str, adds_and_merges: bool
) -> None:
    config = f"materialized='scd2', source_kind='{kind}', unique_key='id', effective_at='at'"
    query = "select * from {{ target.schema }}.batch"
    project = make_project({"models/dim_killed.sql": f"{{{{ config({config}) }}}}\n{query}"})
    project.load("batch", "id int, size int, at timestamp", [(1, 10, T[0]), (2, 20, T[0])])
    project.succeed("run")
    # Each new column is a commit.
    others = [f"other_{number}" for number in range(8)]
    coloured = f"id int, size int, colour string, {' int, '.join(others)} int, at timestamp"

    def load(*rows: tuple) -> None:
        project.load("batch", coloured, [(*row, *[None] * len(others), at) for *row, at in rows])

    load((1, 11, None, T[1]), (2, 20, "grey", T[1]))
    if not adds_and_merges:
        before_statement(f"merge into {project.schema}.dim_killed ", "select * from overtaken")
        assert "overtaken" in project.fail("run")
    before_statement("'scd2.columns' = ", "select * from killed")
    assert "killed" in project.fail("run")
    load((1, 11, "red", T[2]), (2, 20, "grey", T[2]))
    project.succeed("run")
    history = "id, size, colour, effective_from"
    assert project.history("dim_killed", history) == [
        (1, 10, None, T[0]),
        (1, 11, None, T[1]),
        (1, 11, "red", T[2]),
        (2, 20, "grey", T[0]),
    ]
    # What was taken back was never filled.
    project.sql("restore table {schema}.dim_killed to version as of 0")
    project.succeed("run")
    assert project.history("dim_killed", history) == [
        (1, 10, None, T[0]),
        (1, 11, "red", T[2]),
        (2, 20, "grey", T[0]),
    ]


def test_a_run_that_died_is_repeated_after_a_column_left_and_with_an_unknown_member(
    make_project, before_statement
) -> None:
    options = ", unknown_member=var('member', false)"
    project = make_project({"models/dim_repeated.sql": sql_model("repeated", options)})
    for columns, row in (
        ("a string, b string", (1, "x", "p", T[0])),
        ("a string, b string", (1, "y", "p", T[1])),
        ("a string", (1, "y", T[2])),
    ):
        project.load("repeated", f"id int, {columns}, at timestamp", [row])
        project.succeed("run")
    project.load("repeated", "id int, a string, at timestamp", [(1, "z", T[3])])
    before_statement(f"alter table {project.schema}.dim_repeated set tblproperties", "this run dies")
    assert "this run dies" in project.fail("run")
    project.succeed("run", "--vars", "{member: true}")
    found = project.sql(
        "select id, a, b, effective_from, is_current from {schema}.dim_repeated order by id, effective_from"
    )
    assert tuples(found) == [
        (None, None, None, datetime(1900, 1, 1), True),
        (1, "x", "p", T[0], False),
        (1, "y", "p", T[1], False),
        (1, "z", None, T[3], True),
    ]


def test_a_past_version_is_filled_after_another_column_vanished(make_project) -> None:
    project = make_project({"models/dim_increment.sql": EVENTS.replace("<kind>", "increment")})
    again = [(1, 10, "red", T[0]), (1, 10, "red", T[1])]
    for columns, rows in (
        ("id int, size int, weight int, at timestamp", [(1, 10, 5, T[0]), (1, 11, 5, T[2])]),
        ("id int, size int, at timestamp", [(2, 20, T[0])]),
        ("id int, size int, colour string, at timestamp", again),
    ):
        project.load("batch", columns, rows)
        project.succeed("run")
    found = project.sql("select id, size, weight, colour, effective_from from {schema}.dim_increment order by 1, 5")
    assert tuples(found) == [(1, 10, 5, "red", T[0]), (1, 11, 5, None, T[2]), (2, 20, None, None, T[0])]
    assert project.succeed("run")["dim_increment"].message == "UNCHANGED"


def test_a_new_overwritten_column_fills_every_version(make_project) -> None:
    changes = OVERWRITING.replace("unique_key", "source_kind='changelog', change_type='op', unique_key")
    models = {
        "models/dim_overwriting.sql": OVERWRITING.replace("*", "* except (op)"), "models/dim_events.sql": changes
    }  # fmt: skip
    project = make_project({name: text.replace("<overwritten>", "none") for name, text in models.items()})
    rows = [(1, 10, "U", T[0]), (2, 20, "U", T[0]), (1, 11, "U", T[1]), (2, 20, "U", T[1])]
    project.load("batch", "id int, size int, op string, at timestamp", rows)
    project.succeed("run")
    project.write({name: text.replace("<overwritten>", "'colour'") for name, text in models.items()})
    # Once with the extract that was loaded last, then as nothing new, then with a later one.
    for colour, ts, expected in (("red", T[1], "2 altered"), ("red", T[1], None), ("blue", T[2], "2 altered")):
        project.load(
            "batch",
            "id int, size int, colour string, op string, at timestamp",
            [(1, 11, colour, "U", ts), (2, 20, None, "U", ts)],
        )
        results = project.succeed("run")
        message = f"MERGE 0 opened, 0 closed, 0 deleted, {expected}" if expected else "UNCHANGED"
        assert {r.message for r in results.values()} == {message}
        for name in results:
            found = project.sql(f"select id, size, colour, is_current from {{schema}}.{name} order by 1, 2")
            assert tuples(found) == [(1, 10, colour, False), (1, 11, colour, True), (2, 20, None, True)]


def test_a_run_that_died_between_column_and_merge_is_completed(project: DbtProject) -> None:
    project.sql("alter table {schema}.dim_append add columns (colour string)")
    assert (
        project.succeed("run", "--select", "dim_append")["dim_append"].message
        == "MERGE 1 opened, 1 closed, 0 deleted, 1 altered"
    )
    found = project.sql("select id, size, colour, effective_from from {schema}.dim_append order by 1, 4")
    assert tuples(found) == [(1, 1, "red", T[0]), (2, 1, None, T[0]), (2, 2, None, T[1])]


def test_a_renamed_meta_column_is_named(project: DbtProject) -> None:
    project.sql("alter table {schema}.dim_append set tblproperties ('delta.columnMapping.mode' = 'name')")
    project.sql("alter table {schema}.dim_append rename column effective_to to valid_to")
    message = project.fail("run", "--select", "dim_append")
    assert "lacks the column `effective_to`, which the materialization keeps" in message
    assert "rename its old column, or name that one in `scd2_columns`" in message


def test_fields_that_need_quotes_come_and_go(make_project) -> None:
    project = make_project({"models/dim_fields.sql": sql_model("fields")})
    project.sql("create schema if not exists {schema}")
    payload = ", array(named_struct('e-mail', 'a', 'plain', map('k', named_struct('xsi:type', 1)))) as payload"
    for day in (1, 2, 3, 4):
        project.sql(
            "create or replace table {schema}.fields using delta as"
            f" select 1 as id, timestamp '2024-01-0{day}' as at{payload if day in (2, 4) else ''}"
        )
        project.succeed("run", "--select", "dim_fields")
    fields = "payload[0].`e-mail`, payload[0].plain['k'].`xsi:type`"
    assert tuples(project.sql(f"select {fields}, effective_from from {{schema}}.dim_fields")) == [("a", 1, T[0])]


@pytest.mark.parametrize("plan", ["staged", pytest.param("three_clause", marks=pytest.mark.slow)])
def test_texts_of_limited_length_become_plain_texts(make_project, plan: str) -> None:
    project = make_project({"models/dim_short.sql": sql_model("short", f", merge_plan='{plan}'")})
    project.sql("create schema if not exists {schema}")
    # A key that becomes longer is that of test_source_columns.
    for name, ts in (("abc", T[0]), ("longer", T[1])):
        project.sql("drop table if exists {schema}.short")
        project.sql(f"create table {{schema}}.short (id char(2), name varchar({len(name)}), at timestamp) using delta")
        project.sql(f"insert into {{schema}}.short values ('CH', '{name}', timestamp '{ts}')")
        project.succeed("run")
    rows = project.sql("select id, name, is_current from {schema}.dim_short order by effective_from")
    assert tuples(rows) == [("CH", "abc", False), ("CH", "longer", True)]


def test_versions_that_a_new_set_of_columns_cannot_tell_apart_become_one(make_project) -> None:
    tests = f"models: [{{name: dim_told, data_tests: {INVARIANTS}}}]"
    project = make_project({"models/dim_told.sql": sql_model("told"), "models/models.yml": tests})
    told, untold = "id int, a string, b string", "id int, a string"
    two = [(key, "x", text, ts) for text, ts in (("N", T[0]), ("Y", T[1])) for key in (1, 2)]
    for ddl, rows in (
        (told, two),
        (untold, [(1, "x", T[2])]),
        (told, [(1, "x", "Y", T[3])]),
        (f"{told}, c string", [(1, "x", "Y", None, T[4])]),
    ):
        if rows[0][-1] == T[3]:
            project.write({"models/dim_told.sql": sql_model("told", ", ignore_columns='b'")})
        project.load("told", f"{ddl}, at timestamp", rows)
        project.succeed("run")
    project.succeed("test")
    # The first version of a key that was deleted long ago ends now when the second one did.
    assert project.history("dim_told", "id, a, c, effective_from, effective_to, is_current") == [
        (1, "x", None, T[0], datetime(9999, 12, 31), True),
        (2, "x", None, T[0], T[2], False),
    ]


def test_versions_that_a_dropped_column_told_apart_become_one_beside_a_column_that_left(make_project) -> None:
    options = ", tblproperties={'delta.columnMapping.mode': 'name', 'delta.minReaderVersion': '2'}"
    tests = f"models: [{{name: dim_fewer, data_tests: {INVARIANTS}}}]"
    project = make_project({"models/dim_fewer.sql": sql_model("fewer", options), "models/models.yml": tests})
    rows = [(1, "x", text, "kept", ts) for text, ts in (("N", T[0]), ("Y", T[1]))]
    for columns, extract in (
        (["a", "b", "c"], rows),
        (["a", "b"], [(1, "x", "Y", T[2])]),
        (["a"], [(1, "x", T[3])]),
    ):
        if columns == ["a"]:
            project.sql("alter table {schema}.dim_fewer drop column b")
        project.load("fewer", f"id int, {' string, '.join(columns)} string, at timestamp", extract)
        project.succeed("run")
    project.succeed("test")
    assert project.history("dim_fewer", "id, a, c, effective_from, is_current") == [(1, "x", "kept", T[0], True)]


def test_a_new_column_that_delta_cannot_store_is_refused(make_project) -> None:
    project = make_project({"models/dim_spaced.sql": sql_model("spaced")})
    project.load("spaced", "id int, at timestamp", [(1, T[0])])
    project.succeed("run", "--select", "dim_spaced")
    project.load("spaced", "id int, at timestamp", [(1, T[1])])
    project.write({"models/dim_spaced.sql": sql_model("spaced").replace("*", "*, 5 as `the size`")})
    message = project.fail("run", "--select", "dim_spaced")
    assert "the column `the size` has a character that Delta stores only with column mapping" in message
    remedy = re.search("`(alter table [^`]*)`", message)
    assert remedy
    project.sql(remedy[1])
    project.succeed("run", "--select", "dim_spaced")
    # What a new column says of a version that is current is filled in, and opens none.
    assert tuples(project.sql("select id, `the size`, effective_from from {schema}.dim_spaced")) == [(1, 5, T[0])]


def test_a_column_that_is_not_stored_is_not_overwritten(make_project) -> None:
    project = make_project({"models/dim_kept.sql": sql_model("kept", ", on_schema_change='ignore'")})
    project.load("kept", "id int, size int, at timestamp", [(1, 1, T[0])])
    project.succeed("run", "--select", "dim_kept")
    project.load("kept", "id int, size int, colour string, at timestamp", [(1, 1, "red", T[1])])
    project.write({"models/dim_kept.sql": sql_model("kept", ", on_schema_change='ignore', overwrite_columns='colour'")})
    message = project.fail("run", "--select", "dim_kept")
    assert "the column `colour` is not stored, as `on_schema_change` is `ignore`, so it cannot stand in" in message
    assert "take it out there, or choose `append_new_columns`" in message


# The options of dimensions, and the columns of the rows that they leave out.
EXCHANGED = {
    "dim_increment": ("source_kind='increment'", "note, _change_type"),
    "dim_changelog": ("source_kind='changelog'", "note"),
    "dim_snapshot": ("source_kind='snapshot', overwrite_columns='note'", "_change_type"),
}


def test_hashes_over_other_columns_are_equal_to_none(make_project) -> None:
    files = {
        f"models/{name}.sql": f"""
            {{{{ config(materialized='scd2', unique_key='id', effective_at='at', {options}) }}}}
            select * except ({left_out}) from {{{{ target.schema }}}}.exchanged
        """
        for name, (options, left_out) in EXCHANGED.items()
    }
    entries = ", ".join(f"{{name: {name}, data_tests: {INVARIANTS}}}" for name in EXCHANGED)
    project = make_project({**files, "models/models.yml": f"models: [{entries}]"})
    batches = ["dim_increment", "dim_changelog"]

    def give(column: str, text: str, values: dict[datetime, dict[int, bool | None]], *names: str) -> None:
        rows = [(key, value, "U", text, ts) for ts, said in values.items() for key, value in said.items()]
        ddl = f"id int, {column} boolean, _change_type string, note string, at timestamp"
        project.load("exchanged", ddl, rows)
        project.succeed("run", "--select", *(names or EXCHANGED))

    give("is_vip", "a", {T[0]: {1: False, 2: False}, T[2]: {1: True, 2: True}})
    # Whoever was no VIP is not the same as who has no gold, though both are false.
    give("is_gold", "a", {T[3]: {1: False, 2: True}})
    # The row of 1 that comes again says the same as its version, which has a hash of other columns.
    give("is_gold", "a", {T[0]: {1: None}, T[1]: {2: False}}, *batches)
    give("is_gold", "b", {T[4]: {1: True, 2: True}})
    project.succeed("test")
    first = [(1, False, None, T[0]), (1, True, False, T[2]), (1, None, True, T[4])]
    for name in EXCHANGED:
        late = [(2, None, False, T[1])] if name in batches else []
        found = project.history(name, "id, is_vip, is_gold, effective_from")
        assert found == [*first, (2, False, None, T[0]), *late, (2, True, True, T[2])], name


def test_columns_named_hash_and_variants_come_and_go(make_project) -> None:
    # The feature that a variant needs is not switched on for a table that is there already.
    model = """
        {{ config(
            materialized='scd2', unique_key='id', effective_at='at', source_kind='<kind>', track_columns='size'<options>
        ) }}
        select *, 'update' as _change_type<more> from {{ target.schema }}.added
    """
    names = {"dim_extract": "snapshot", "dim_events": "changelog"}
    later = ", to_json(named_struct('size', size)) as hash, parse_json('{\"a\": 1}') as payload"
    entries = ", ".join(f"{{name: {name}, data_tests: {INVARIANTS}}}" for name in names)
    project = make_project({"models/models.yml": f"models: [{entries}]"})
    for day, (options, more) in enumerate([("", ""), (", overwrite_columns='hash'", later), ("", "")]):
        for name, kind in names.items():
            text = model.replace("<kind>", kind).replace("<options>", options).replace("<more>", more)
            project.write({f"models/{name}.sql": text})
        project.load("added", "id int, size int, at timestamp", [(1, day, T[day]), (2, 0, T[day])])
        project.succeed("run")
        if more:
            events = "select to_json(payload) as p from {schema}.dim_events__events where size = 1"
            assert tuples(project.sql(events)) == [('{"a":1}',)]
    project.succeed("test")
    for name in names:
        found = project.history(name, "id, size, hash, to_json(payload), is_current")
        assert [row for row in found if row[0] == 1] == [
            (1, 0, '{"size":1}', None, False),
            (1, 1, '{"size":1}', '{"a":1}', False),
            (1, 2, None, None, True),
        ]


def test_a_column_that_returns_is_compared_with_what_is_stored(make_project) -> None:
    project = make_project({"models/dim_back.sql": sql_model("back")})
    with_it, without = "id int, a int, d int, at timestamp", "id int, a int, at timestamp"
    project.load("back", with_it, [(1, 1, 2, T[0]), (2, 1, None, T[0])])
    project.succeed("run")
    project.load("back", without, [(1, 1, T[1]), (2, 1, T[1])])
    project.succeed("run")
    project.load("back", with_it, [(1, 1, 3, T[1]), (2, 1, 4, T[1])])
    for _ in range(2):
        message = project.fail("run")
        assert "applied before with other rows, 0 new, 1 changed and 0 gone: id 1. What changed is `d`" in message
    # What is null is filled; a later extract changes what is not.
    project.load("back", with_it, [(1, 1, 3, T[1]), (2, 1, 4, T[1]), (1, 1, 3, T[2]), (2, 1, 4, T[2])])
    for _ in range(2):
        project.succeed("run")
        assert history(project, "dim_back", "id, d") == [(1, 2, T[0], False), (1, 3, T[2], True), (2, 4, T[0], True)]


def test_a_row_contradicts_what_is_stored_in_a_column_that_returns(make_project) -> None:
    config = "materialized='scd2', source_kind='increment', unique_key='id', effective_at='at'"
    project = make_project(
        {"models/dim_back.sql": f"{{{{ config({config}) }}}}\nselect * from {{{{ target.schema }}}}.batch"}
    )
    with_it, without = "id int, a string, d int, at timestamp", "id int, a string, at timestamp"
    project.load("batch", with_it, [(1, "A", 2, T[0]), (2, "A", None, T[0])])
    project.succeed("run")
    project.load("batch", without, [(9, "Z", T[1])])
    project.succeed("run")
    project.load("batch", with_it, [(1, "A", 3, T[0]), (2, "A", 4, T[0])])
    assert "different rows of one key have the same `at`: id 1.\n" in project.fail("run")
    # What is null is filled.
    project.load("batch", with_it, [(1, "A", 2, T[0]), (2, "A", 4, T[0]), (1, "A", 3, T[2])])
    expected = [(1, 2, T[0], False), (1, 3, T[2], True), (2, 4, T[0], True), (9, None, T[1], True)]
    for _ in range(2):
        project.succeed("run")
        assert project.history("dim_back", "id, d, effective_from, is_current") == expected


def test_a_column_that_a_failed_run_added_is_filled_by_the_first_that_writes_it(make_project, before_statement) -> None:
    project = make_project({"models/dim_late.sql": "{{ config(materialized='scd2', unique_key='id') }}\n"
                            "select * from {{ target.schema }}.late"})  # fmt: skip
    plain, coloured = "id int, size int", "id int, size int, colour string"
    project.load("late", plain, [(1, 10), (2, 20)])
    project.succeed("run")
    project.load("late", coloured, [(1, 10, "red"), (2, 20, "grey")])
    before_statement(f"merge into {project.schema}.dim_late ", "select * from refused")
    assert "refused" in project.fail("run")
    # The model goes back; a load without new times has nothing to record after its MERGE.
    project.load("late", plain, [(1, 11), (2, 20)])
    project.succeed("run")
    project.load("late", coloured, [(1, 11, "red"), (2, 20, "grey")])
    assert project.succeed("run")["dim_late"].message == "MERGE 0 opened, 0 closed, 0 deleted, 3 altered"
    assert project.history("dim_late", "id, size, colour, is_current") == [
        (1, 10, None, False),
        (1, 11, "red", True),
        (2, 20, "grey", True),
    ]


def test_two_runs_in_a_row_may_fill_columns_and_die(make_project, before_statement) -> None:
    project = make_project({"models/dim_twice.sql": sql_model("twice")})
    both = "id int, a int, b int, at timestamp"
    project.load("twice", "id int, at timestamp", [(1, T[0]), (2, T[0])])
    project.succeed("run")
    project.load("twice", "id int, a int, at timestamp", [(1, 1, T[1]), (2, None, T[1])])
    before_statement("'scd2.columns' = ", "select * from dies")
    assert "dies" in project.fail("run")
    # The next run finds the first column filled, brings another one, and fails before or after its MERGE.
    project.load("twice", both, [(1, 1, 1, T[2]), (2, None, 2, T[2])])
    for before in (f"merge into {project.schema}.dim_twice ", "'scd2.columns' = "):
        before_statement(before, "select * from dies")
        assert "dies" in project.fail("run")
    project.load("twice", both, [(1, 1, 1, T[3]), (2, 2, 2, T[3])])
    project.succeed("run")
    assert history(project, "dim_twice", "id, a, b") == [
        (1, 1, 1, T[0], True),
        (2, None, 2, T[0], False),
        (2, 2, 2, T[3], True),
    ]


def test_a_column_may_be_renamed_or_dropped_in_the_table_as_well(make_project) -> None:
    options = ", tblproperties={'delta.columnMapping.mode': 'name', 'delta.minReaderVersion': '2'}"
    names = ("renamed", "cleared", "replaced")
    project = make_project({f"models/dim_{name}.sql": sql_model(name, options) for name in names})
    first = [(1, 1, "Bern", T[0]), (2, 1, "Chur", T[0])]
    for name in names:
        project.load(name, "id int, size int, town string, at timestamp", first)
    project.succeed("run")
    project.sql("alter table {schema}.dim_renamed rename column town to city")
    for name in ("cleared", "replaced"):
        project.sql(f"alter table {{schema}}.dim_{name} drop column town")
    project.load("renamed", "id int, size int, city string, at timestamp", [(1, 1, "Thun", T[1]), (2, 1, "Chur", T[1])])
    project.load("cleared", "id int, size int, at timestamp", [(1, 2, T[1]), (2, 1, T[1])])
    # With the same values in the same place, the hash stays as it was.
    project.load("replaced", "id int, size int, town_name string, at timestamp", [(*row[:3], T[1]) for row in first])
    project.succeed("run")
    assert history(project, "dim_renamed", "id, size, city") == [
        (1, 1, "Bern", T[0], False),
        (1, 1, "Thun", T[1], True),
        (2, 1, "Chur", T[0], True),
    ]
    assert history(project, "dim_replaced", "id, town_name") == [(1, "Bern", T[0], True), (2, "Chur", T[0], True)]
    assert history(project, "dim_cleared", "id, size") == [(1, 1, T[0], False), (1, 2, T[1], True), (2, 1, T[0], True)]


def test_an_update_in_two_parts_fills_a_new_column(make_project) -> None:
    model = """
    {{ config(materialized='scd2', unique_key='id', source_kind='increment', effective_at='at', change_type='op') }}
    select * from {{ target.schema }}.parts
    """
    project = make_project({"models/dim_parts.sql": model})
    project.load("parts", "id int, a string, op string, at timestamp", [(1, "a", "I", T[0]), (2, "a", "I", T[0])])
    project.succeed("run")
    parts = [(1, "a", "x", "D", T[1]), (1, "a", "x", "I", T[1]), (2, "a", "x", "U", T[1])]
    project.load("parts", "id int, a string, c string, op string, at timestamp", parts)
    project.succeed("run")
    assert history(project, "dim_parts", "id, c") == [(1, "x", T[0], True), (2, "x", T[0], True)]
