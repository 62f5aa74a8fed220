"""Placeholders that Debezium sends for large values that an update left as they were."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from delta_scd2 import apply_changelog, latest_changes
from harness import DbtProject, stepwise, tuples

TEXT = "__debezium_unavailable_value"
BYTES = TEXT.encode()
COLUMNS = {
    "body": "string",
    "coded": "string",
    "digits": "string",
    "scan": "binary",
    "tags": "array<string>",
    "numbers": "array<int>",
    "pairs": "map<string, string>",
}
GONE = (TEXT, b64encode(BYTES).decode(), BYTES.hex(), bytearray(BYTES), [TEXT], list(BYTES), {TEXT: TEXT})
FIRST = ("a", "b", "c", bytearray(b"d"), ["e"], [1], {"f": "g"})
SECOND = ("A", None, "C", bytearray(b""), [], [2, 3], {})
DDL = (
    "id int, name string, " + ", ".join(map(" ".join, COLUMNS.items())) + ", _change_type string, at timestamp, lsn int"
)
NAMES = list(COLUMNS)

FROM = "(select * except (at) from {{ target.schema }}.log)"
CONFIG = "{{ config(materialized='scd1', unique_key='id', change_ordinal='lsn'%s) }}\n"
NAMED = f", unavailable_columns={NAMES}"
COPY = CONFIG % NAMED + (
    "{% set log = '(select * except (at) from ' ~ target.schema ~ '.log)' %}\n"
    # A column may be named twice.
    f"{{{{ delta_scd2.latest_changes(log, 'id', change_ordinal='lsn', unavailable_columns={[*NAMES, 'BODY']}) }}}}"
)
PY = f"""
from delta_scd2 import latest_changes


def model(dbt, session):
    dbt.config(materialized="scd1", unique_key="id", change_ordinal="lsn", unavailable_columns={NAMES})
    log = session.table(f"{{dbt.this.schema}}.log").drop("at")
    return latest_changes(log, "id", change_ordinal="lsn"{NAMED})
"""
MODELS = {
    "copy_sql.sql": COPY,
    "copy_py.py": PY,
    "part_of_key.sql": CONFIG % ", unavailable_columns=['body', 'id']" + f"select * from {FROM}",
    "never_seen.sql": CONFIG % NAMED + f"select * from {FROM} where lsn = 6",
}
NOT_THERE = f"the changelog holds `{TEXT}` in place of values that"
REFUSED = {
    "part_of_key": "`unavailable_columns` names the column `id`, which is part of the key",
    "never_seen": f"{NOT_THERE} %s.never_seen does not have: id 9.",
    "copy_sql": f"{NOT_THERE} %s.copy_sql does not have: id 9.",
    "copy_py": f"{NOT_THERE} %s.copy_py does not have: id 9.",
}


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    return make_project({f"models/{name}": text for name, text in MODELS.items()})


def change(key: int, name: str, values: tuple, kind: str, lsn: int) -> tuple:
    return (key, name, *values, kind, None, lsn)


def test_the_value_of_before_stays(project: DbtProject, spark: SparkSession) -> None:
    project.load("log", DDL, [change(key, "old", FIRST, "I", key) for key in range(1, 6)])
    project.succeed("run", "--select", "copy_sql", "copy_py")
    spark.sql(f"create table {project.schema}.applied using delta as select * from {project.schema}.copy_sql")
    log = [
        change(1, "new", SECOND, "U", 5),
        change(1, "newer", GONE, "U", 7),
        change(2, "new", GONE, "U", 6),
        change(3, "old", (None,) * 7, "D", 5),
        change(3, "again", SECOND, "I", 6),
        change(3, "and again", GONE, "U", 7),
        change(4, "old", GONE, "U", 5),
        change(5, "old", GONE, "U", 6),
        change(5, "old", (None,) * 7, "D", 8),
    ]
    project.load("log", DDL, log)
    results = project.succeed("run", "--select", "copy_sql", "copy_py")
    messages = {results[name].message for name in ("copy_sql", "copy_py")}
    assert messages == {"MERGE 0 inserted, 3 updated, 1 deleted"}
    changes = latest_changes(
        spark.table(f"{project.schema}.log").drop("at"), "id", change_ordinal="lsn", unavailable_columns=NAMES
    )
    options = {"change_ordinal": "lsn", "unavailable_columns": NAMES}
    effects = {"inserted": 0, "updated": 3, "deleted": 1}
    assert apply_changelog(spark, f"{project.schema}.applied", changes, "id", **options) == effects
    assert not any(apply_changelog(spark, f"{project.schema}.applied", changes, "id", **options).values())
    # A change that comes again after the deletion of its row brings nothing back, so it needs no values.
    project.load("log", DDL, [change(5, "old", GONE, "U", 6)])
    project.succeed("run", "--select", "copy_sql", "copy_py")
    expected = [(1, "newer", *SECOND), (2, "new", *FIRST), (3, "and again", *SECOND), (4, "old", *FIRST)]
    columns = ", ".join(["id", "name", *NAMES])
    for name in ("copy_sql", "copy_py", "applied"):
        assert tuples(project.sql(f"select {columns} from {{schema}}.{name} order by id")) == expected


def test_what_has_no_value_before_is_refused(project: DbtProject, spark: SparkSession) -> None:
    versions = {name: project.version(name) for name in ("copy_sql", "copy_py")}
    project.load("log", DDL, [change(9, "new", GONE, "U", 6), change(1, "gone", GONE, "D", 9)])
    result = project.dbt("run", "--select", *REFUSED)
    messages = {node.node.name: node.message for node in result.result.results}
    for name, part in REFUSED.items():
        assert (part % project.schema if "%s" in part else part) in messages[name]
        assert "Nothing was written. Remedy: " in messages[name]
    assert not {"part_of_key", "never_seen"} & project.relations()
    assert {name: project.version(name) for name in versions} == versions

    changes = spark.table(f"{project.schema}.log").drop("at")
    for columns, part in (("id", "`unavailable_columns` names id"), (NAMES, "does not have: id 9.")):
        with pytest.raises(ValueError, match=part):
            apply_changelog(
                spark, f"{project.schema}.applied", changes, "id", change_ordinal="lsn", unavailable_columns=columns
            )


FED = """
{{ config(materialized='table') }}
{% set feed = target.schema ~ '.fed' %}
{{ delta_scd2.latest_changes(feed, 'id', change_ordinal='_commit_version', unavailable_columns='body') }}
"""


def test_a_row_of_a_feed_has_the_value_of_before(make_project: Callable[..., DbtProject], spark: SparkSession) -> None:
    project = make_project({"models/latest.sql": FED})
    feed = [
        (1, "w", "update_preimage", 5),
        (1, "x", "update_postimage", 5),
        (1, "x", "update_preimage", 6),
        (1, TEXT, "update_postimage", 6),
        (2, "a", "insert", 5),
        (2, "a", "delete", 6),
        # What is left is the state after the last change, which took another row.
        (3, "a", "insert", 5),
        (3, "b", "insert", 6),
        (3, "a", "delete", 7),
    ]
    project.load("fed", "id int, body string, _change_type string, _commit_version bigint", feed)
    project.succeed("run")
    names = {"change_ordinal": "_commit_version", "unavailable_columns": "body"}
    in_python = latest_changes(spark.table(f"{project.schema}.fed"), "id", **names)
    for found in (spark.table(f"{project.schema}.latest"), in_python):
        rows = tuples(found.select("id", "body", "_change_type", "_commit_version").orderBy("id").collect())
        assert rows == [(1, "x", "update_postimage", 6), (2, "a", "delete", 6), (3, "b", "insert", 7)]


DIM = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at', source_kind='%s'%s
) }}
"""
FILLED = ", unavailable_columns=['body', 'scan']"
EVENT = "select id, body, scan, at, _change_type from {{ target.schema }}.%s"
NULL_SCAN = "cast(null as binary) as scan"
# Each is no option that a dimension can follow, and says why.
WRONG = {
    "dim_of_increment": (DIM % ("increment", FILLED + ", change_type='_change_type'"), "only `source_kind: changelog`"),
    "dim_of_other": (DIM % ("changelog", ", unavailable_columns='bodi'"), "did you mean `body`?"),
    "dim_of_key": (DIM % ("changelog", ", unavailable_columns='id'"), "is not tracked but stands in `unique_key`"),
    "dim_of_ignored": (DIM % ("changelog", FILLED + ", track_columns='body'"), "`scan`, which is not tracked: track"),
    "dim_of_number": (DIM % ("changelog", FILLED + ", unavailable_value=0"), "`unavailable_value` is `0`"),
}
EVENT_DDL = "id int, body string, scan binary, at timestamp, _change_type string"
VERSIONS = "id, body, scan, day(effective_from), is_current, is_deleted"
NO_VALUE = f"the events hold `{TEXT}` in place of values that no event before them has: id 9."
D, Z = bytearray(b"d"), bytearray(BYTES)


def event(key: int, body: str | None, scan: bytearray | None, day: int, kind: str = "u") -> tuple:
    return (key, body, scan, datetime(2024, 1, day), kind)


@pytest.fixture(scope="module")
def dimensions(make_project: Callable[..., DbtProject]) -> DbtProject:
    wrong = {f"models/{name}.sql": config + EVENT % "events" for name, (config, _) in WRONG.items()}
    members = DIM % ("changelog", FILLED + ", inferred_member='is_inferred'")
    return make_project(
        wrong
        | {
            "models/dim_events.sql": DIM % ("changelog", FILLED) + EVENT % "events",
            "models/dim_stored.sql": DIM % ("changelog", "") + EVENT % "events",
            "models/dim_members.sql": members
            + "select *, false as is_inferred from ("
            + EVENT % "events"
            + f") union all select 9, null, {NULL_SCAN}, null, null, true",
        }
    )


def test_a_dimension_of_events_fills_in_what_came_before(dimensions: DbtProject) -> None:
    project = dimensions
    project.load("events", EVENT_DDL, [event(1, "a", D, 2), event(1, TEXT, None, 3), event(2, "b", Z, 2)])
    # A first load needs all values, as any other.
    message = project.fail("run", "--select", "dim_events")
    assert NO_VALUE.replace("id 9", "id 2") in message
    assert "let the source send these rows whole" in message
    assert "dim_events" not in project.relations()
    project.load("events", EVENT_DDL, [event(1, "a", D, 2), event(1, TEXT, None, 3), event(2, "b", None, 2)])
    project.succeed("run", "--select", "dim_events", "dim_members")
    later = [event(1, TEXT, None, 5), event(2, "B", Z, 4)]
    project.load("events", EVENT_DDL, later)
    assert (
        project.succeed("run", "--select", "dim_events")["dim_events"].message == "MERGE 1 opened, 1 closed, 0 deleted"
    )
    project.load("events", EVENT_DDL, [event(3, "c", D, 5)])
    project.succeed("run", "--select", "dim_events")
    project.load("events", EVENT_DDL, [event(9, TEXT, D, 6), event(1, "z", D, 9)])
    version = project.version("dim_events")
    assert NO_VALUE in project.fail("run", "--select", "dim_events")
    assert project.version("dim_events") == version
    # An inferred member has no value to fill in.
    assert NO_VALUE in project.fail("run", "--select", "dim_members")
    project.load("events", EVENT_DDL, [event(1, "late", D, 4), event(2, None, None, 8, "d")])
    project.succeed("run", "--select", "dim_events")
    expected = [
        (1, "a", D, 2, False, False),
        (1, "a", None, 3, False, False),
        (1, "late", D, 4, False, False),
        (1, "late", None, 5, True, False),
        (2, "b", None, 2, False, False),
        (2, "B", None, 4, True, True),
        (3, "c", D, 5, True, False),
    ]
    assert project.history("dim_events", VERSIONS) == expected
    # Old events may be deleted; what comes again then contradicts nothing that is stored.
    project.sql("delete from {schema}.dim_events__events where effective_from < '2024-01-05'")
    project.load("events", EVENT_DDL, later)
    project.succeed("run", "--select", "dim_events")
    # Nor after a change of columns, which forgets the events.
    model = DIM % ("changelog", FILLED) + f"select *, 1 as more from ({EVENT % 'events'})"
    project.write({"models/dim_events.sql": model})
    project.succeed("run", "--select", "dim_events")
    assert project.history("dim_events", VERSIONS, "more is null or more = 1") == expected


def test_placeholders_that_were_stored_are_filled_in_later(dimensions: DbtProject) -> None:
    project = dimensions
    batch = [event(1, "a", D, 2), event(1, TEXT, D, 3), event(2, TEXT, D, 2)]
    project.load("events", EVENT_DDL, batch)
    project.succeed("run", "--select", "dim_stored")
    assert [row[1] for row in project.history("dim_stored", VERSIONS)] == ["a", TEXT, TEXT]
    project.write({"models/dim_stored.sql": DIM % ("changelog", FILLED) + EVENT % "events"})
    # Key 2 has no other value before its placeholder.
    project.load("events", EVENT_DDL, [event(1, "A", None, 4), event(1, TEXT, D, 5), event(2, "c", D, 5)])
    project.succeed("run", "--select", "dim_stored")
    found = [(row[0], row[1], row[3]) for row in project.history("dim_stored", VERSIONS)]
    assert found == [(1, "a", 2), (1, "A", 4), (1, "A", 5), (2, TEXT, 2), (2, "c", 5)]


def test_a_dimension_says_what_it_cannot_fill_in(dimensions: DbtProject) -> None:
    dimensions.load("events", EVENT_DDL, [event(1, "a", D, 2)])
    result = dimensions.dbt("run", "--select", *WRONG)
    messages = {node.node.name: node.message for node in result.result.results}
    for name, (_, part) in WRONG.items():
        assert part in messages[name], name
    assert not WRONG.keys() & dimensions.relations()


# Models whose columns or options change from one step to the next, each with its events of that step.
STEPS = {
    "dropped": ("unavailable_columns=['body'] if var('step') > 1 else []", {
        1: ("name, x", "(1, 1, 'n', 1), (1, 2, 'n', 2), (1, 3, 'n', 3)"),
        2: ("name, body", "(1, 4, 'n', 'B')"),
    }),
    "later": ("unavailable_columns=['body'] if var('step') > 1 else []", {
        1: ("name", "(1, 1, 'n'), (2, 1, 'n')"),
        2: ("name, body", "(1, 2, 'n', 'B')"),
        3: ("name, body", f"(2, 3, 'm', '{TEXT}')"),
    }),
    "replaced": ("sequence_by='seq', unavailable_columns=['body'] if var('step') > 1 else []", {
        1: ("seq, name", "(1, 5, 1, 'n')"),
        2: ("seq, name, body", "(2, 1, 1, 'n', 'B')"),
        3: ("seq, name, body", f"(1, 5, 2, 'm', '{TEXT}')"),
    }),
    "ignoring": ("unavailable_columns=['body'] if var('step') > 1 else [], on_schema_change='ignore'", {
        1: ("name", "(1, 1, 'n')"),
        2: ("name, body", f"(1, 2, 'm', '{TEXT}')"),
    }),
    "whole": ("unavailable_columns=[] if var('step') > 1 else ['body', 'BODY']", {
        1: ("body", f"(1, 2, 'a'), (1, 3, '{TEXT}')"),
        2: ("body", "(1, 1, 'c')"),
    }),
    "member": ("unavailable_columns=['body'], inferred_member='is_inferred'", {
        1: ("body, is_inferred", "(9, 1, cast(null as string), true)"),
        2: ("body, is_inferred", "(9, 2, cast(null as string), false)"),
    }),
    "late": ("unavailable_columns=['body'], inferred_member='is_inferred'", {
        1: ("name, body, is_inferred", "(9, 1, string(null), string(null), true)"),
        2: ("name, body, is_inferred", "(9, 4, 'n2', 'B', false)"),
        3: ("name, body, is_inferred", f"(9, 3, 'n1', '{TEXT}', false)"),
        4: ("name, body, is_inferred", f"(9, 3, 'n1', '{TEXT}', false), (9, 2, 'n0', 'A', false)"),
    }),
    "keys": ("source_kind='increment'", {
        1: ("", "(1, 1)"),
        2: ("name", "(1, 2, 'n')"),
    }),
}  # fmt: skip


def test_columns_and_options_change_beside_placeholders(make_project: Callable[..., DbtProject]) -> None:
    project = make_project(
        stepwise({
            f"dim_{name}": (options if "source_kind" in options else f"source_kind='changelog', {options}", steps)
            for name, (options, steps) in STEPS.items()
        })
    )  # fmt: skip
    project.succeed("run", "--vars", "{step: 1}")
    # The events are forgotten with the next rows, not before.
    project.succeed("run", "--select", "dim_whole", "--vars", "{step: 2, has_rows: false}")
    project.succeed("run", "--vars", "{step: 2}")
    # Neither a new version has a value, nor one that an event replaces.
    refused = project.fail("run", "--select", "dim_later", "dim_replaced", "--vars", "{step: 3}")
    assert re.findall(r"in place of values that no event before them has: (.*?)\.", refused) == ["id 2", "id 1"]

    def found(name: str, columns: str) -> list[tuple]:
        return project.history(f"dim_{name}", f"{columns}, day(effective_from)")

    # A column that is null because it came later ties no older versions together.
    assert found("dropped", "x") == [(1, 1), (2, 2), (3, 3)]
    assert found("ignoring", "name") == [("n", 1), ("m", 2)]
    # Without the option, the events that had placeholders are forgotten.
    assert found("whole", "body") == [("c", 1), ("a", 2)]
    assert found("member", "body, is_inferred, year(effective_from)") == [(None, False, 1900, 1)]
    assert found("keys", "name") == [("n", 1)]

    # The version of a completed inferred row has the values of an event that comes later.
    late = ["run", "--select", "dim_late", "--vars"]
    assert NO_VALUE in project.fail(*late, "{step: 3}")
    project.succeed(*late, "{step: 4}")
    assert found("late", "name, body") == [("n0", "A", 1), ("n1", "A", 3), ("n2", "B", 4)]
