"""Placeholders that Debezium sends for large values that an update left as they were."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from delta_scd2 import apply_changelog, latest_changes
from harness import DbtProject, tuples

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
FEED = ", tblproperties={'delta.enableChangeDataFeed': 'true'}"
COPY = CONFIG % (NAMED + FEED) + (
    "{% set log = '(select * except (at) from ' ~ target.schema ~ '.log)' %}\n"
    f"{{{{ delta_scd2.latest_changes(log, 'id', change_ordinal='lsn'{NAMED}) }}}}"
)
DIMENSION = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='_commit_timestamp',
    sequence_by='_commit_version'
) }}
select * from ({{ delta_scd2.changes_since_last_run(ref('copy_sql')) }})
"""
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
    "dim_copied.sql": DIMENSION,
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
    project.succeed("run", "--select", "copy_sql", "copy_py", "dim_copied")
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
    results = project.succeed("run", "--select", "copy_sql", "copy_py", "dim_copied")
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
    history = tuples(project.sql(f"select {columns}, is_current, is_deleted from {{schema}}.dim_copied order by 1, 2"))
    assert [row[:-2] for row in history if row[-2:] == (True, False)] == expected
    ended = [(1, "old", False), (2, "old", False), (3, "old", False), (5, "old", True)]
    assert [(*row[:2], row[-1]) for row in history if row[-2:] != (True, False)] == ended


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
    ]
    project.load("fed", "id int, body string, _change_type string, _commit_version bigint", feed)
    project.succeed("run")
    names = {"change_ordinal": "_commit_version", "unavailable_columns": "body"}
    in_python = latest_changes(spark.table(f"{project.schema}.fed"), "id", **names)
    for found in (spark.table(f"{project.schema}.latest"), in_python):
        rows = tuples(found.select("id", "body", "_change_type", "_commit_version").orderBy("id").collect())
        assert rows == [(1, "x", "update_postimage", 6), (2, "a", "delete", 6)]
