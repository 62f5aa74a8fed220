"""History from events, late and out of order: the published cases, in SQL and Python."""

from __future__ import annotations

import pytest

from harness import DbtProject, at

MODEL = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key=['scenario', 'id'], effective_at='at',
    scd2_columns={'surrogate_key': 'sk', 'durable_key': 'hk'}
) }}
select * from {{ target.schema }}.<source>
"""
PYTHON_MODEL = """
def model(dbt, session):
    dbt.config(
        materialized="scd2", source_kind="changelog", unique_key=["scenario", "id"], effective_at="at",
        scd2_columns={"surrogate_key": "sk", "durable_key": "hk"},
    )
    return dbt.source("silver", "events")
"""
NAMES = ["dim_sql", "dim_py"]
OPEN = None


U, D = "U", "D"
# scenario: (batches of (id, kind, value, ts), the versions after them)
SCENARIOS = {
    "all kinds": (
        [[(1, U, "a", 10), (1, U, "b", 20), (1, D, None, 30), (1, U, "c", 40)]],
        [("a", 10, 20), ("b", 20, 30), ("c", 40, OPEN)],
    ),
    "late update": (
        [[(1, U, "a", 10), (1, U, "c", 20)], [(1, U, "b", 15)]],
        [("a", 10, 15), ("b", 15, 20), ("c", 20, OPEN)],
    ),
    "late deletion": (
        [[(1, U, "a", 10), (1, U, "b", 30)], [(1, D, None, 20)]],
        [("a", 10, 20), ("b", 30, OPEN)],
    ),
    "earlier first version": ([[(1, U, "a", 10)], [(1, U, "b", 5)]], [("b", 5, 10), ("a", 10, OPEN)]),
    "earlier deletion": ([[(1, U, "a", 10), (1, D, None, 20)], [(1, D, None, 15)]], [("a", 10, 15)]),
    "deletion before its row": ([[(1, D, None, 20)], [(1, U, "x", 10)]], [("x", 10, 20)]),
    "row between equal rows": (
        [[(1, U, "Alice", 5), (1, U, "Alice", 10), (1, U, "Alice", 15), (1, U, "Charlie", 20)], [(1, U, "Bob", 12)]],
        [("Alice", 5, 12), ("Bob", 12, 15), ("Alice", 15, 20), ("Charlie", 20, OPEN)],
    ),
}
DDL = "scenario string, id int, _change_type string, value string, at timestamp"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    return make_project(
        {
            "models/dim_sql.sql": MODEL.replace("<source>", "events"),
            "models/dim_py.py": PYTHON_MODEL,
            "models/dim_amount.sql": MODEL.replace("<source>", "amounts").replace(
                "effective_at='at',", "effective_at='at', sequence_by='seq', overwrite_columns='amount',"
            ),
            "models/sources.yml": (
                'version: 2\nsources: [{name: silver, schema: "{{ target.schema }}", tables: [{name: events}]}]\n'
            ),
        }
    )


def load(project: DbtProject, *numbers: int) -> None:
    rows = [
        (scenario, key, kind, value, at(second))
        for scenario, (batches, _) in SCENARIOS.items()
        for number in numbers
        for key, kind, value, second in (batches[number] if number < len(batches) else [])
    ]
    project.load("events", DDL, rows)


def versions(project: DbtProject, name: str) -> dict[str, list[tuple]]:
    found: dict[str, list[tuple]] = {}
    for row in project.sql(f"select * from {{schema}}.{name} order by effective_from"):
        end = None if row.effective_to.year == 9999 else row.effective_to
        found.setdefault(row.scenario, []).append((row.value, row.effective_from, end))
    return found


def test_published_cases(project: DbtProject) -> None:
    for number in range(2):
        load(project, number)
        project.succeed("run", "--select", *NAMES)
    expected = {
        scenario: [(value, at(begin), None if end is OPEN else at(end)) for value, begin, end in history]
        for scenario, (_, history) in SCENARIOS.items()
    }
    for name in NAMES:
        assert versions(project, name) == expected

    # The batches once more, the other way round, change neither the dimension nor what it remembers.
    before = [project.version(name) for name in [*NAMES, "dim_sql__events"]]
    load(project, 1, 0)
    project.succeed("run", "--select", *NAMES)
    assert [project.version(name) for name in [*NAMES, "dim_sql__events"]] == before


def test_a_null_key_or_time_is_refused(project: DbtProject) -> None:
    before = [project.version(name) for name in [*NAMES, "dim_sql__events"]]
    for row, problem in (
        (("late update", None, "U", "a", at(50)), "with a null in the business key: scenario late update, id null"),
        (("late update", 1, "U", "a", None), "1 row(s) have no `at`: scenario late update, id 1"),
        (("late update", 1, "?", "a", at(50)), "row(s) whose `_change_type` is unknown: scenario late update, id 1"),
    ):
        project.load("events", DDL, [row])
        assert project.fail("run", "--select", *NAMES).count(problem) == len(NAMES)
    assert [project.version(name) for name in [*NAMES, "dim_sql__events"]] == before


def test_one_row_where_only_the_amount_changes(project: DbtProject) -> None:
    ddl = DDL + ", seq int, amount int"
    first = [("s", 1, "U", "alice", at(10), 1, 100), ("s", 1, "U", "alice", at(20), 2, 200)]
    for batch in (first, [("s", 1, "U", "alice", at(30), 3, 300)], [("s", 1, "U", "alice", at(25), 4, 250)]):
        project.load("amounts", ddl, batch)
        project.succeed("run", "--select", "dim_amount")
    rows = project.sql("select value, amount, effective_from, year(effective_to) from {schema}.dim_amount")
    assert [tuple(row) for row in rows] == [("alice", 300, at(10), 9999)]

    project.load("amounts", ddl, [("s", 1, "U", "bob", at(40), None, 1)])
    assert "row(s) with a null in `sequence_by`: scenario s, id 1" in project.fail("run", "--select", "dim_amount")


def test_a_run_that_died_before_it_remembered_is_completed(project: DbtProject) -> None:
    project.load("events", DDL, [("died", 1, "U", "a", at(1)), ("died", 1, "U", "a", at(5))])
    project.succeed("run", "--select", "dim_sql")
    project.sql("delete from {schema}.dim_sql__events where scenario = 'died'")
    version = project.version("dim_sql")
    project.succeed("run", "--select", "dim_sql")
    assert project.version("dim_sql") == version
    project.load("events", DDL, [("died", 1, "U", "b", at(2))])
    project.succeed("run", "--select", "dim_sql")
    assert versions(project, "dim_sql")["died"] == [("a", at(1), at(2)), ("b", at(2), at(5)), ("a", at(5), None)]


def test_a_column_added_by_hand_is_no_part_of_the_events(project: DbtProject) -> None:
    project.load("events", DDL, [("hand", 1, "U", "a", at(1)), ("hand", 1, "U", "a", at(5))])
    project.succeed("run", "--select", "dim_sql")
    project.sql("alter table {schema}.dim_sql add columns (note string)")
    project.sql("update {schema}.dim_sql set note = 'mine' where scenario = 'hand'")
    project.load("events", DDL, [("hand", 1, "U", "b", at(3))])
    project.succeed("run", "--select", "dim_sql")
    assert versions(project, "dim_sql")["hand"] == [("a", at(1), at(3)), ("b", at(3), at(5)), ("a", at(5), None)]
    notes = project.sql("select note from {schema}.dim_sql where scenario = 'hand' order by effective_from")
    assert [row.note for row in notes] == ["mine", None, None]


def test_events_are_stored_under_the_names_that_the_dimension_has(make_project) -> None:
    project = make_project({
        "models/dim_named.sql": """
            {{ config(
                materialized='scd2', source_kind='changelog', unique_key='the id', effective_at='at',
                tblproperties={'delta.columnMapping.mode': 'name'}
            ) }}
            select * from named_events
        """
    })  # fmt: skip
    for value, second in (("a", 10), ("b", 20), ("c", 15)):
        project.sql(f"""
            create or replace temporary view named_events as
            select 1 as `the id`, '{value}' as `a, value`, 'U' as _change_type, timestamp '{at(second)}' as at
        """)
        project.succeed("run")
    # The field of a new column, too, for whose sake the table of events is made anew.
    project.sql(f"""
        create or replace temporary view named_events as
        select
            1 as `the id`, 'd' as `a, value`, named_struct('of it', 1) as part, 'U' as _change_type,
            timestamp '{at(30)}' as at
    """)
    project.succeed("run")
    assert project.sql("select part.`of it` as part from {schema}.dim_named__events") == [(1,)]
    found = project.sql("select `a, value`, effective_from from {schema}.dim_named order by 2")
    assert [tuple(row) for row in found] == [("a", at(10)), ("c", at(15)), ("b", at(20)), ("d", at(30))]


def test_a_deletion_says_nothing_of_a_partition(make_project) -> None:
    project = make_project({
        "models/dim_parted.sql": """
            {{ config(
                materialized='scd2', source_kind='changelog', unique_key='id', effective_at='at', partition_by='value',
                tblproperties={'delta.dataSkippingStatsColumns': 'id,effective_to'}
            ) }}
            select * except (scenario) from {{ target.schema }}.events
        """
    })  # fmt: skip
    for kind, value, second in (("U", "a", 10), ("D", "", 20)):
        project.load("events", DDL, [("", 1, kind, value, at(second))])
        project.succeed("run")
    found = project.sql("select value, is_deleted from {schema}.dim_parted")
    assert [tuple(row) for row in found] == [("a", True)]
    project.load("events", DDL, [("", 2, "U", "", at(10))])
    assert "rows have a value in `value` that Delta does not keep" in project.fail("run")


def test_events_that_outlive_their_history_are_not_of_the_next_one(
    project: DbtProject, before_statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew = ["--full-refresh", "--vars", "{scd2_discard_history: true}"]
    project.load("events", DDL, [("anew", 1, "U", "wrong", at(1)), ("anew", 1, "U", "b", at(5))])
    project.succeed("run", "--select", "dim_sql")
    project.load("events", DDL, [("anew", 1, "U", "a", at(2))])
    before_statement(f"create or replace table {project.schema}.dim_sql__events", "select * from killed")
    assert "killed" in project.fail("run", "--select", "dim_sql", *anew)

    project.load("events", DDL, [("anew", 1, "U", "c", at(7))])
    monkeypatch.undo()
    project.succeed("run", "--select", "dim_sql")
    assert versions(project, "dim_sql")["anew"] == [("a", at(2), at(7)), ("c", at(7), None)]


def test_events_are_those_of_the_dimension_also_where_it_was_made_of_extracts(make_project) -> None:
    kinds = {
        kind: f"""
            {{{{ config(materialized='scd2', source_kind='{kind}', unique_key='id', effective_at='at') }}}}
            select * except (scenario{", _change_type" * (kind == "snapshot")}) from {{{{ target.schema }}}}.events
        """
        for kind in ("snapshot", "changelog")
    }
    project = make_project({})
    anew = ["--full-refresh", "--vars", "{scd2_discard_history: true}"]

    def run(kind: str, value: str, second: int, *options: str) -> None:
        project.write({"models/dim_turned.sql": kinds[kind]})
        project.load("events", DDL, [("", 1, "U", value, at(second))])
        project.succeed("run", *options)

    run("snapshot", "a", 10)
    run("changelog", "wrong", 30)
    run("snapshot", "a", 10, *anew)
    run("changelog", "b", 20)
    run("changelog", "c", 40)
    run("changelog", "a", 15)
    found = project.sql("select value, effective_from from {schema}.dim_turned order by effective_from")
    assert [tuple(row) for row in found] == [("a", at(10)), ("b", at(20)), ("c", at(40))]
    remembered = project.sql("select value from {schema}.dim_turned__events order by effective_from")
    assert [row.value for row in remembered] == ["a", "b", "c"]


def test_a_table_under_the_name_of_the_events_is_not_replaced(make_project) -> None:
    project = make_project({"models/dim_mine.sql": MODEL.replace("<source>", "events")})
    project.load("dim_mine__events", "id int", [(1,)])
    project.load("events", DDL, [("", 1, "U", "a", at(10))])
    message = project.fail("run")
    assert "dim_mine__events is in the way" in message
    assert "rename or drop it" in message
    assert [row.id for row in project.sql("select id from {schema}.dim_mine__events")] == [1]
    project.sql("drop table {schema}.dim_mine__events")
    project.succeed("run")
