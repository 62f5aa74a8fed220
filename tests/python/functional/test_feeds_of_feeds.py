"""Tables that follow a change data feed: what is left of a key, feeds of their own, and ways on when the feed ends."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from delta_scd2 import apply_changelog, changelog, latest_changes
from harness import DbtProject, tuples

FEED = "using delta tblproperties (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name')"
OWN_FEED = "tblproperties={'delta.enableChangeDataFeed': 'true'}"
DIMENSION = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='<key>', effective_at='_commit_timestamp',
    sequence_by='_commit_version', scd2_columns={'surrogate_key': '<name>_sk'}, <options>
) }}
select * <except> from ({{ delta_scd2.changes_since_last_run(target.schema ~ '.<table>'<latest>) }})
"""
RAW = "select *<except> from table_changes('{{ target.schema }}.<table>', {{ var('first', 0) }})"
COPY = """
{{ config(materialized='scd1', unique_key='id', change_ordinal='_commit_version', <options>) }}
with events as (<raw>)
{{ delta_scd2.latest_changes('events', 'id', change_ordinal='_commit_version') }}
"""
RAW_COPY = "{{ config(materialized='scd1', unique_key='id', change_ordinal='_commit_version') }}\n<raw>"
BY_HAND = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='seen_at',
    sequence_by='_commit_version', ignore_columns='_commit_timestamp', <options>
) }}
select *, _commit_timestamp as seen_at from (<raw>)
"""
APPLIED = """
{{ config(post_hook="{{ delta_scd2.apply_changelog(target.schema ~ '.copy_people', this, 'id') }}") }}
select 1 as id, 'Bern' as city, 'U' as _change_type, 1 as _change_ordinal
"""
ADDED = "except (people_hk, hash_diff, effective_from, effective_to, is_current, is_deleted)"


def dimension(name: str, table: str, **texts: str) -> str:
    values = {"key": "id", "latest": "", "options": "", "except": "", "table": table, "name": name, **texts}
    text = DIMENSION
    for part, value in values.items():
        text = text.replace(f"<{part}>", value)
    return text


def raw(table: str, columns: str = "") -> str:
    return RAW.replace("<table>", table).replace("<except>", columns)


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    copy = COPY.replace("<options>", OWN_FEED)
    models = {
        "dim_people": dimension("people", "people", options=OWN_FEED),
        "dim_member": dimension("member", "dim_people", key="people_sk", options=OWN_FEED, **{"except": ADDED}),
        "dim_latest": dimension("latest", "pairs", latest=", latest_by='load'"),
        "dim_told": dimension("told", "pairs").replace("'_commit_version'", "['_commit_version', 'load']"),
        "dim_at_odds": dimension("at_odds", "pairs"),
        "dim_wide": dimension("wide", "wide"),
        "dim_short": dimension("short", "short"),
        "dim_renamed": dimension("renamed", "renamed"),
        "dim_by_hand": BY_HAND.replace("<raw>", raw("people")).replace("<options>", OWN_FEED),
        "dim_moved": BY_HAND.replace("<raw>", raw("moved"))
        .replace("<options>", "")
        .replace("'_commit_version'", "'_Commit_Version'"),
        "copy_moved": RAW_COPY.replace("<raw>", raw("moved", " except (_commit_timestamp)")),
        "copy_people": copy.replace("<raw>", raw("people")),
        "copy_counted": copy.replace("<raw>", raw("counted", " except (_commit_timestamp)")),
    }
    project = make_project({f"models/{name}.sql": text for name, text in models.items()})
    project.write({"models/dim_member.sql": "-- depends_on: {{ ref('dim_people') }}\n" + models["dim_member"]})
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.moved (id int, city string, load int) {FEED}")
    project.sql("insert into {schema}.moved values (1, 'Bern', 1), (2, 'Chur', 1), (3, 'Genf', 1), (4, 'Visp', 1)")
    for table in ("people", "pairs", "wide", "short", "renamed", "counted"):
        project.sql(f"create table {{schema}}.{table} (id int, city string, load int) {FEED}")
        project.sql(
            f"insert into {{schema}}.{table} values (1, 'Bern', 1), (2, 'Chur', 1), (2, 'Chur', 1), (3, 'Genf', 1)"
        )
    project.succeed("run", "--exclude", "dim_member")
    project.succeed("run", "--select", "dim_member")
    return project


def live(project: DbtProject, name: str, columns: str = "id, city, load") -> list[tuple]:
    condition = "" if name.startswith("copy") else " where is_current and not is_deleted"
    return sorted(tuples(project.sql(f"select {columns} from {{schema}}.{name}{condition}")))


def test_what_is_left_of_a_key_is_its_state(project: DbtProject, spark: SparkSession) -> None:
    for statement in (
        "insert into {schema}.<table> values (1, 'Basel', 2)",
        "delete from {schema}.<table> where id = 1 and load = 1",
        "insert into {schema}.<table> values (3, 'Genf', 1), (4, 'Visp', 1), (5, 'Thun', 1), (5, 'Biel', 2)",
        "delete from {schema}.<table> where id = 2",
        "delete from {schema}.<table> where id = 5 and load = 2",
    ):
        for table in ("pairs", "counted"):
            project.sql(statement.replace("<table>", table))
    results = project.dbt("run", "--select", "dim_latest", "dim_told", "dim_at_odds", "copy_counted").result.results
    messages = {result.node.name: str(result.message) for result in results}
    assert "pairs held, between versions 1 and 6, different rows of one key: id 1; id 5" in messages.pop("dim_at_odds")
    assert "latest_by='loaded_at'" in str(results)
    left = [(1, "Basel", 2), (3, "Genf", 1), (4, "Visp", 1), (5, "Thun", 1)]
    for name in messages:
        assert live(project, name) == left, messages[name]
    twice = project.sql("select city from {schema}.dim_latest where id = 5 order by effective_from")
    assert [row.city for row in twice] == ["Biel", "Thun"]

    feed = spark.sql(f"select * from table_changes('{project.schema}.counted', 2)")
    for changes in (feed, feed.drop("_commit_timestamp")):
        found = latest_changes(changes, "id", change_ordinal="_commit_version")
        kinds = {(row.id, row.city, row["_change_type"]) for row in found.collect()}
        assert kinds == {(r[0], r[1], "insert") for r in left} | {(2, "Chur", "delete")}
    # The row of key 1 that is left came before the range.
    late = spark.sql(f"select * from table_changes('{project.schema}.counted', 3, 3)")
    table = spark.table(f"{project.schema}.counted")
    for rows, change in ((None, (1, "Bern", "delete")), (table, (1, "Basel", "UPDATE_AFTER"))):
        found = latest_changes(late, "id", change_ordinal="_commit_version", table=rows)
        assert [(row.id, row.city, row["_change_type"]) for row in found.collect()] == [change]
    project.sql("insert into {schema}.counted values (4, 'Brig', 2)")
    assert "duplicate keys detected in changelog dataframe for identifier columns ['id']: id 4" in project.fail(
        "run", "--select", "copy_counted"
    )
    feed = spark.sql(f"select * except (_commit_timestamp) from table_changes('{project.schema}.counted', 2)")
    latest = latest_changes(feed, "id", change_ordinal="_commit_version")
    with pytest.raises(ValueError, match=r"duplicate keys detected.*: id 4"):
        apply_changelog(spark, f"{project.schema}.copy_counted", latest, "id", change_ordinal="_commit_version")


def test_changes_that_come_after_the_table_was_read_wait_for_the_next_run(make_project, before_statement) -> None:
    model = COPY.replace("='_commit_version') }}\n", "='_commit_version', table=target.schema ~ '.cut') }}\n")
    model = model.replace("<options>", "").replace("<raw>", raw("cut", " except (_commit_timestamp)"))
    project = make_project({"models/copy_cut.sql": model})
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.cut (id int, city string, load int) {FEED}")
    project.sql("insert into {schema}.cut values (1, 'Bern', 1), (2, 'Chur', 1)")
    project.succeed("run")
    project.sql("insert into {schema}.cut values (1, 'Basel', 2), (3, 'Genf', 1)")
    project.sql("delete from {schema}.cut where load = 1 and id in (1, 2)")
    before_statement("_change_is_left", f"delete from {project.schema}.cut where id = 1")
    project.succeed("run")
    assert live(project, "copy_cut") == [(1, "Basel", 2), (3, "Genf", 1)]
    project.succeed("run")
    assert live(project, "copy_cut") == [(3, "Genf", 1)]


def test_an_update_that_moves_a_key_ends_the_old_one(project: DbtProject, spark: SparkSession) -> None:
    """In a feed as it is, only the row before the update says so."""
    name, applied = f"{project.schema}.moved", f"{project.schema}.applied"
    spark.sql(f"create table {applied} using delta as select * from {name}")
    models = ("dim_moved", "copy_moved")
    for statements in (
        ["set id = 10, load = 2 where id = 1", "set city = 'Bern', load = 2 where id = 2"],
        ["set id = 11, city = 'Sion', load = 3 where id = 10", "set id = 1, load = 3 where id = 2"],
        ["set id = id + 20, load = 4 where id in (3, 4)", "set id = 3, load = 5 where id = 1"],
    ):
        first = project.sql("describe history {schema}.moved limit 1")[0].version + 1
        for statement in statements:
            spark.sql(f"update {name} {statement}")
        project.succeed("run", "--select", *models, "--vars", f"{{first: {first}}}")
        feed = spark.sql(f"select * except (_commit_timestamp) from table_changes('{name}', {first})")
        apply_changelog(spark, applied, feed, "id", change_ordinal="_commit_version")
        expected = sorted(tuples(spark.table(name).collect()))
        assert sorted(tuples(spark.table(applied).collect())) == expected
        for model in models:
            assert live(project, model) == expected, model
    # The key came again in a later version, and was gone in between.
    versions = "select city, is_deleted from {schema}.dim_moved where id = 3 order by effective_from"
    assert tuples(project.sql(versions)) == [("Genf", True), ("Bern", False)]

    for statement in ("set id = 40 where id = 11", "set id = 41 where id = 40"):
        spark.sql(f"update {name} {statement}")
    message = "keep the last change of each key with `latest_changes`"
    assert message in project.fail("run", "--select", "copy_moved", "--vars", f"{{first: {first + 2}}}")
    feed = spark.sql(f"select * except (_commit_timestamp) from table_changes('{name}', {first + 2})")
    with pytest.raises(ValueError, match=message):
        apply_changelog(spark, applied, feed, "id", change_ordinal="_commit_version")


def test_what_follows_a_feed_can_have_one_itself(project: DbtProject) -> None:
    for statement in (
        "update {schema}.people set city = 'Basel' where id = 1",
        "delete from {schema}.people where id = 3",
        "insert into {schema}.people values (4, 'Sion', 1)",
    ):
        project.sql(statement)
    project.sql("alter table {schema}.dim_people__events set tblproperties ('delta.enableChangeDataFeed' = 'true')")
    models = ("dim_people", "dim_by_hand", "copy_people")
    project.succeed("run", "--select", *models, "--vars", "{first: 2}")
    project.succeed("run", "--select", "dim_member")
    expected = [(1, "Basel", 1), (2, "Chur", 1), (4, "Sion", 1)]
    for name in models:
        assert live(project, name) == expected
    versions = "people_sk, id, city, people_commit_version"
    held = sorted(tuples(project.sql(f"select {versions} from {{schema}}.dim_people")))
    assert live(project, "dim_member", versions) == held
    assert {
        row[0] for row in project.sql("select distinct _change_type from table_changes('{schema}.dim_member', 0)")
    } == {"insert"}
    for name in ("dim_people", "dim_people__events", "dim_by_hand", "copy_people"):
        assert not [f for f in project.sql(f"describe {{schema}}.{name}") if f.col_name.startswith("_c")]


def test_an_older_table_keeps_its_column(project: DbtProject) -> None:
    for name in ("dim_latest", "dim_latest__events"):
        project.sql(f"alter table {{schema}}.{name} set tblproperties ('delta.columnMapping.mode' = 'name')")
        project.sql(f"alter table {{schema}}.{name} rename column latest_commit_version to _commit_version")
    columns = project.properties("dim_latest")["scd2.columns"]
    older = columns.replace("latest_commit_version", "_commit_version")
    project.sql(f"alter table {{schema}}.dim_latest set tblproperties ('scd2.columns' = '{older}')")
    project.sql("update {schema}.pairs set city = 'Visp', load = 9 where id = 3")
    project.succeed("run", "--select", "dim_latest")
    assert live(project, "dim_latest", "id, city")[1] == (3, "Visp")
    newest = project.version("pairs")
    assert project.sql("select max(_commit_version) as version from {schema}.dim_latest")[0].version == newest
    assert "latest_commit_version" not in [f.col_name for f in project.sql("describe {schema}.dim_latest")]
    assert project.succeed("run", "--select", "dim_latest")["dim_latest"].message == "UNCHANGED"


def test_a_history_goes_on_where_the_changes_are_lost(project: DbtProject) -> None:
    changes = {
        "wide": ["set tblproperties ('delta.enableTypeWidening' = 'true')", "alter column load type bigint"],
        "short": ["drop column load"],
        "renamed": ["rename column load to batch"],
    }
    for table, statements in changes.items():
        project.sql(f"update {{schema}}.{table} set city = 'Basel' where id = 1")
        for statement in statements:
            project.sql(f"alter table {{schema}}.{table} {statement}")
        project.sql(f"delete from {{schema}}.{table} where id = 3")
    models = [f"dim_{table}" for table in changes]
    messages = project.fail("run", "--select", *models)
    assert messages.count("--vars '{scd2_catch_up: true}'") == len(models), messages
    project.succeed("run", "--select", *models, "--vars", "{scd2_catch_up: true}")
    for name in models:
        assert live(project, name, "id, city") == [(1, "Basel"), (2, "Chur")]
        past = project.sql(f"select id, city, is_deleted from {{schema}}.{name} where effective_to < '9999-12-31'")
        assert sorted(tuples(past)) == [(1, "Bern", False), (3, "Genf", True)]
    # A renamed column is one that is gone, too.
    for table in ("wide", "renamed"):
        project.sql(f"update {{schema}}.{table} set city = 'Visp' where id = 2")
    project.succeed("run", "--select", "dim_wide", "dim_renamed")
    for name in ("dim_wide", "dim_renamed"):
        assert live(project, name, "id, city") == [(1, "Basel"), (2, "Visp")]


def test_a_session_that_leaves_out_what_it_cannot_read_is_refused(project: DbtProject, spark: SparkSession) -> None:
    copy, people = f"{project.schema}.copy_people", f"{project.schema}.people"
    project.write({"models/applied.sql": APPLIED})
    names = [
        "spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles",
        "spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled",
        "spark.sql.files.ignoreInvalidPartitionPaths",
    ]  # fmt: skip
    for name in names:
        spark.conf.set(name, "true")
        try:
            if name == names[0]:
                messages = project.fail("run", "--select", "dim_people", "dim_by_hand", "copy_people", "applied")
                assert messages.count(f"set `{name}` to `false`") == 4, messages
            with pytest.raises(ValueError, match=f"set `{name}` to `false`"):
                changelog(spark, people, "id")
            with pytest.raises(ValueError, match=f"set `{name}` to `false`"):
                apply_changelog(spark, copy, spark.table(people), "id")
        finally:
            spark.conf.unset(name)
