"""Copies of the current state, kept by changelogs: the materialization `scd1` and `apply_changelog`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession, functions

from delta_scd2 import apply_changelog, changelog, latest_changes
from harness import DbtProject, tuples

DDL = "region string, id int, value string, _change_type string, _change_ordinal bigint"
MODELS = ["copy_sql", "copy_py"]

YAML = """
version: 2
sources:
  - name: silver
    schema: "{{ target.schema }}"
    tables: [{name: changes}, {name: letters}]
seeds:
  - name: fed
    config: {tblproperties: {delta.enableChangeDataFeed: true}}
models:
  - name: hook
    config: {materialized: table}
  - name: copy_sql
    config: &config {materialized: scd1, unique_key: [region, id]}
  - name: copy_py
    config: *config
  - name: lettered
    config: {materialized: scd1, unique_key: id, change_type: kind, change_ordinal: lsn}
"""
SQL = "select * from {{ source('silver', 'changes') }}\n"
PY = """
def model(dbt, session):
    return dbt.source("silver", "changes")
"""
FROM_FEED = """
{{ config(materialized='scd1', unique_key='id') }}
{{ delta_scd2.changelog(ref('fed'), keys=['id'], from_version=var('from_version', none)) }}
"""
FROM_FEED_PY = """
from delta_scd2 import changelog


def model(dbt, session):
    dbt.config(materialized="scd1", unique_key="id")
    dbt.ref("fed")
    return changelog(session, f"{dbt.this.schema}.fed", "id")
"""
PUBLISHED = """
{{ config(materialized='scd1', unique_key='id') }}
with changes as (
    {{ delta_scd2.changelog(target.schema ~ '.versions', from_version=0, to_version=2) }}
)
{% if var('latest', false) %}{{ delta_scd2.latest_changes('changes', 'id') }}{% else %}select * from changes{% endif %}
"""
APPLIED_BY_HOOK = """
{{ config(post_hook="{{ delta_scd2.apply_changelog(target.schema ~ '.hooked', this, 'id') }}") }}
{{ delta_scd2.changelog(target.schema ~ '.versions', 'id', from_version=0, to_version=2) }}
"""
EMPTY_REGION = "select '' as region, 1 as id, 'I' as _change_type"
APPLIED_TO_PARTITIONS = f"""
{{{{ config(post_hook="{{{{ delta_scd2.apply_changelog(target.schema ~ '.by_region', this, 'id') }}}}") }}}}
{EMPTY_REGION}
"""
EMPTY_PARTITION = "have a value in `region` that Delta does not keep where it partitions by the column"
MISTAKEN = """
{{ config(materialized='scd1', unique_key='idd', change_typ='kind', buckets=2) }}
select 1 as id, 'a' as kind, parse_json('1') as reading, null as nothing, 1 as _change_kind
"""

OUT_OF_PLACE = """
{{ config(materialized='scd1', unique_key='id') }}
select
    1 as id, 2 as `the name`, array(named_struct('of; it', 1)) as parts, 'I' as _change_type, 1 as _commit_version,
    1 as OUT_OF_PLACE_commit_version
"""

PARTED = """
{{ config(materialized='scd1', unique_key=['region', 'id'], partition_by='region') }}
select * from {{ source('silver', 'changes') }}
"""

FIRST = [
    ("EU", 1, "a", "INSERT", 1),
    ("EU", 2, None, "c", 1),
    (None, 2, "null region", "I", 1),
    ("US", 1, "b", "update_postimage", 1),
    ("US", 9, "never here", "DELETE", 1),
]
FIRST_COPY = [(None, 2, "null region"), ("EU", 1, "a"), ("EU", 2, None), ("US", 1, "b")]
SECOND = [
    ("EU", 1, "a", "UPDATE_BEFORE", 2),
    ("EU", 1, "a2", "UPDATE_AFTER", 2),
    ("EU", 2, None, "DELETE", 3),
    (None, 2, None, "u", 3),
    ("US", 1, "b", "UPDATE_AFTER", 3),
    ("US", 2, "new", "INSERT", 4),
]
SECOND_COPY = [(None, 2, None), ("EU", 1, "a2"), ("US", 1, "b"), ("US", 2, "new")]

REFUSED = {
    "duplicate keys": (
        [*SECOND, ("US", 2, "new", "DELETE", 5)],
        "duplicate keys detected in changelog dataframe for identifier columns ['region', 'id']: region US, id 2.",
    ),
    "unknown change": (
        [*SECOND, ("US", 3, "x", "truncate", 5), ("US", 4, "x", None, 5), ("US", 5, "x", "", 5)],
        "is not a change type: ''; null; truncate.",
    ),
}


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    return make_project(
        {
            "models/models.yml": YAML,
            "models/copy_sql.sql": SQL,
            "models/copy_py.py": PY,
            "models/fed_copy.sql": FROM_FEED,
            "models/fed_copy_py.py": FROM_FEED_PY,
            "seeds/fed.csv": "id,v\n1,a\n2,b\n",
            "models/published.sql": PUBLISHED,
            "models/hook.sql": APPLIED_BY_HOOK,
            "models/lettered.sql": "select * from {{ source('silver', 'letters') }}\n",
            "models/mistaken.sql": MISTAKEN,
            "models/out_of_place.sql": OUT_OF_PLACE,
            "models/parted.sql": PARTED,
        }
    )


@pytest.fixture
def filled(project: DbtProject) -> DbtProject:
    """Both copies after their first changelog, at version 0."""
    for name in MODELS:
        project.sql(f"drop table if exists {{schema}}.{name}")
    project.load("changes", DDL, FIRST)
    project.succeed("run", "--select", *MODELS)
    return project


def copies(project: DbtProject) -> list[list[tuple[Any, ...]]]:
    return [tuples(project.sql(f"select * from {{schema}}.{name} order by all")) for name in MODELS]


def test_create_apply_and_repeat(filled: DbtProject) -> None:
    assert copies(filled) == [FIRST_COPY] * 2
    assert [filled.version(name) for name in MODELS] == [0, 0]

    filled.load("changes", DDL, SECOND)
    results = filled.succeed("run", "--select", *MODELS)
    assert copies(filled) == [SECOND_COPY] * 2
    for name in MODELS:
        assert results[name].message == "MERGE 1 inserted, 2 updated, 1 deleted"
        assert results[name].adapter_response["rows_affected"] == 4
        metrics = filled.sql(f"describe history {{schema}}.{name} limit 1")[0].operationMetrics
        assert metrics["numTargetRowsUpdated"] == "2"

    results = filled.succeed("run", "--select", *MODELS)
    assert [results[name].message for name in MODELS] == ["UNCHANGED"] * 2
    assert [filled.version(name) for name in MODELS] == [1, 1]
    remembered = {f"{name}__ordinals" for name in MODELS}
    assert {name for name in filled.relations() if "copy" in name} == {*MODELS, *remembered}


def test_bad_input_is_refused_and_the_copies_keep_their_version(filled: DbtProject) -> None:
    spark = SparkSession.active()
    target = f"{filled.schema}.copy_sql"
    for rows, message in REFUSED.values():
        filled.load("changes", DDL, rows)
        assert filled.fail("run", "--select", *MODELS).count(message) == 2
        with pytest.raises(ValueError, match=re.escape(message)):
            apply_changelog(spark, target, spark.table(f"{filled.schema}.changes"), ["region", "id"])

    for name in MODELS:
        filled.sql(f"insert into {{schema}}.{name} values (null, 2, 'again'), ('XX', 1, 'x'), ('XX', 1, 'x')")
    filled.load("changes", DDL, SECOND)
    message = "multiple rows in destination table match key ['region', 'id']: region null, id 2."
    assert filled.fail("run", "--select", *MODELS).count(message) == 2
    with pytest.raises(ValueError, match=re.escape(message)):
        apply_changelog(spark, target, spark.table(f"{filled.schema}.changes"), ["region", "id"])

    filled.load("changes", DDL.replace("value string", "value int, more int"), [("EU", 1, 5, 6, "I", 1)])
    found = filled.fail("run", "--select", *MODELS)
    for part in ("the column `value` is int in the changelog and string", "the column `more`, which", "2 mistake(s)"):
        assert found.count(part) == 2
    with pytest.raises(ValueError, match="the column `value` is int in the changelog and string"):
        apply_changelog(spark, target, spark.table(f"{filled.schema}.changes"), ["region", "id"])
    reserved = spark.table(f"{filled.schema}.changes").selectExpr("*", "1 as _change_kind")
    with pytest.raises(ValueError, match="the column `_change_kind` has a reserved name"):
        apply_changelog(spark, target, reserved, ["region", "id"])
    others = {
        "null as nothing": "the column `nothing` is void, which Delta does not store: cast it",
        "interval 1 day as took": "the column `took` is interval day, which Delta does not store: cast it",
        "array('a' collate utf8_lcase) as names": "which Delta does not store: cast it",
        "named_struct('time zone', timestamp_ntz '2024-01-01') as at": (
            f"add it with `alter table {target} set tblproperties ('delta.feature.timestampNtz' = 'supported'); "
            f"alter table {target} add columns (`at` struct<`time zone`:timestamp_ntz>)`"
        ),
        "'b' as VALUE": "the changelog has more than one column named `VALUE`: rename or drop one of them",
        "1 as NetAmount": f"add it with `alter table {target} add columns (`NetAmount` int)`",
    }
    for column, message in others.items():
        changes = spark.table(f"{filled.schema}.changes").selectExpr("* except (value, more)", "'a' as value", column)
        with pytest.raises(ValueError, match=re.escape(message)):
            apply_changelog(spark, target, changes, ["region", "id"])
    unkind = spark.table(f"{filled.schema}.changes").drop("_change_type")
    with pytest.raises(ValueError, match="the changelog has no column `_change_type`: add it"):
        apply_changelog(spark, target, unkind, ["region", "id"])
    assert [filled.version(name) for name in MODELS] == [1, 1]

    # Duplicates are refused on the first run too.
    filled.sql("drop table {schema}.copy_sql")
    filled.load("changes", DDL, REFUSED["duplicate keys"][0])
    assert REFUSED["duplicate keys"][1] in filled.fail("run", "--select", "copy_sql")
    assert "copy_sql" not in filled.relations()


def test_an_empty_text_in_a_partition_is_refused(project: DbtProject) -> None:
    project.load("changes", DDL, [("EU", 1, "a", "I", 1)])
    project.succeed("run", "--select", "parted")
    # The table keeps its partitions when the model names them no longer.
    for text, kind in ((PARTED, "D"), (PARTED.replace(", partition_by='region'", ""), "U")):
        project.write({"models/parted.sql": text})
        project.load("changes", DDL, [("", 1, "b", kind, 2)])
        assert EMPTY_PARTITION in project.fail("run", "--select", "parted")
    assert project.version("parted") == 0


def test_an_empty_text_in_a_partition_of_any_table_is_refused(published: DbtProject, spark: SparkSession) -> None:
    published.sql("create table {schema}.by_region (region string, id int) using delta partitioned by (region)")
    published.write({"models/region.sql": APPLIED_TO_PARTITIONS})
    assert EMPTY_PARTITION in published.fail("run", "--select", "region")
    with pytest.raises(ValueError, match=re.escape(EMPTY_PARTITION)):
        apply_changelog(spark, f"{published.schema}.by_region", spark.sql(EMPTY_REGION), "id")
    assert published.version("by_region") == 0
    (published.directory / "models/region.sql").unlink()


def test_a_key_and_an_ordinal_have_types_that_can_be_compared_and_stored(make_project, spark: SparkSession) -> None:
    change = "select map('k', 1) as tags, 1 as id, 'I' as _change_type, named_struct('lsn', 1, 'part', null) as place"
    config = "materialized='scd1', change_ordinal='place', unique_key"
    keys = {"by_map": "tags", "by_id": "id"}
    project = make_project(
        {f"models/{name}.sql": f"{{{{ config({config}='{key}') }}}} {change}" for name, key in keys.items()}
    )
    message = project.fail("run")
    assert "the column `tags` of type map<string,int> stands in `unique_key`, and maps cannot be compared" in message
    assert "the column `place` has a part that has no type" in message
    project.sql("create table {schema}.tagged (tags map<string, int>, id int) using delta")
    changes = spark.sql(f"{change.replace(', null)', ', 2)')}").drop("place")
    with pytest.raises(
        ValueError, match="`tags` of type map<string,int> stands in the key, and maps cannot be compared"
    ):
        apply_changelog(spark, f"{project.schema}.tagged", changes, ["tags", "id"])
    assert not keys.keys() & project.relations()


def test_mistakes_in_the_configuration_are_told_at_once(project: DbtProject) -> None:
    message = project.fail("run", "--select", "mistaken")
    assert "mistaken: 7 mistake(s) in the configuration" in message
    assert "`change_typ` is not an option of the scd1 materialization: did you mean `change_type`?" in message
    assert "`buckets` has no effect in the scd1 materialization: remove it" in message
    assert "`unique_key` names the column `idd`, which the changelog does not hold: did you mean `id`?" in message
    assert "the changelog has no column `_change_type`" in message
    assert "the column `nothing` has no type: cast it in the model" in message
    assert "the column `_change_kind` has a reserved name (`_change_…`): rename it in the model" in message
    assert "the changelog has the column `reading` of type variant, of which Spark does not tell two values" in message
    assert "mistaken" not in project.relations()


def test_names_that_the_table_cannot_have_are_told_at_once(project: DbtProject) -> None:
    message = project.fail("run", "--select", "out_of_place")
    assert "out_of_place: 3 mistake(s)" in message
    assert "the column `the name` has a character that Delta stores only with column mapping: rename it in" in message
    assert "the column `parts` has a field with a character that Delta stores only with column mapping" in message
    assert "the name under which its `_commit_version` is stored: rename or drop it in the model" in message
    assert "out_of_place" not in project.relations()


def test_columns_of_a_changelog_by_other_names(project: DbtProject) -> None:
    ddl = "id int, kind string, lsn bigint"
    project.load("letters", ddl, [(1, "I", 1), (2, "I", 2)])
    project.succeed("run", "--select", "lettered")
    project.load("letters", ddl, [(1, "D", 3), (3, "U", 4)])
    project.succeed("run", "--select", "lettered")
    assert [row.asDict() for row in project.sql("select * from {schema}.lettered order by id")] == [
        {"id": 2},
        {"id": 3},
    ]


def test_a_copy_follows_the_feed_of_its_table(project: DbtProject) -> None:
    project.succeed("build", "--select", "+fed_copy", "+fed_copy_py")
    project.write({"seeds/fed.csv": "id,v\n1,c\n3,\n"})
    results = project.succeed("build", "--select", "+fed_copy", "+fed_copy_py", "--vars", "from_version: 0")
    expected = [(1, "c"), (3, None)]
    assert results["fed_copy"].message == "MERGE 1 inserted, 1 updated, 1 deleted"
    assert tuples(project.sql("select * from {schema}.fed_copy order by id")) == expected

    # The whole changelog of the table begins after key 2, which its copy knows: that is what a full refresh is for.
    assert tuples(project.sql("select * from {schema}.fed_copy_py order by id")) == [(1, "c"), (2, "b"), (3, None)]
    project.succeed("run", "--select", "fed_copy_py", "--full-refresh")
    assert tuples(project.sql("select * from {schema}.fed_copy_py order by id")) == expected

    version = project.version("fed_copy")
    project.succeed("run", "--select", "fed_copy", "--empty")
    assert project.version("fed_copy") == version


# -- case 3: the published changelogs, applied

DUPLICATES = "duplicate keys detected in changelog dataframe for identifier columns ['id']"
AMBIGUOUS = "multiple rows in destination table match key ['id']"


@pytest.fixture(scope="module")
def published(project: DbtProject) -> DbtProject:
    """The published versions, and for each way to apply them a table at version 0."""
    feed = "tblproperties (delta.enableChangeDataFeed = true)"
    project.sql("create schema if not exists {schema}")
    project.sql(f"create table {{schema}}.versions using delta {feed} as select 'id1' as id, 'val1' as value")
    for name in ("applied", "published", "hooked"):
        project.sql(f"create table {{schema}}.{name} using delta as select * from {{schema}}.versions")
    project.sql("insert overwrite {schema}.versions values ('id1', 'val2')")
    project.sql("insert overwrite {schema}.versions values ('id1', 'val3'), ('id2', 'val2')")
    project.sql("insert overwrite {schema}.versions values ('id1', 'val3'), ('id1', 'val3')")
    return project


def rows(project: DbtProject, table: str) -> list[tuple[Any, ...]]:
    return tuples(project.sql(f"select * from {{schema}}.{table} order by id, value"))


def test_published_changelogs_applied_in_python(published: DbtProject, spark: SparkSession) -> None:
    source, target = f"{published.schema}.versions", f"{published.schema}.applied"
    net_changes = changelog(spark, source, from_version=0, to_version=2)
    with pytest.raises(ValueError, match=re.escape(DUPLICATES)):
        apply_changelog(spark, target, net_changes, ["id"])
    assert published.version("applied") == 0

    effects = {"inserted": 1, "updated": 1, "deleted": 0}
    assert apply_changelog(spark, target, latest_changes(net_changes, "id"), "id") == effects
    assert published.version("applied") == 1
    assert rows(published, "applied") == [("id1", "val3"), ("id2", "val2")]

    by_key = changelog(spark, source, ["id"], from_version=0, to_version=2)
    assert not any(apply_changelog(spark, target, by_key, ["id"]).values())
    assert published.version("applied") == 1

    published.sql("insert into {schema}.applied values ('id1', 'val9')")
    with pytest.raises(ValueError, match=re.escape(AMBIGUOUS)):
        apply_changelog(spark, target, by_key, ["id"])
    assert published.version("applied") == 2


def test_keys_with_the_names_of_what_is_counted_in_python(published: DbtProject, spark: SparkSession) -> None:
    keys = ["count", "inserted", "updated", "deleted"]
    published.sql(
        "create table {schema}.named using delta as select 1 as count, 1 as inserted, 1 as updated, 1 as deleted"
    )
    target = f"{published.schema}.named"
    changes = spark.sql("select 2 as count, 2 as inserted, 2 as updated, 2 as deleted, 'I' as _change_type")
    assert apply_changelog(spark, target, changes, keys) == {"inserted": 1, "updated": 0, "deleted": 0}
    assert published.sql("select sum(count) as n from {schema}.named")[0].n == 3
    contradicted = changes.union(changes.withColumn("_change_type", functions.lit("D")))
    with pytest.raises(ValueError, match="count 2, inserted 2, updated 2, deleted 2"):
        apply_changelog(spark, target, contradicted, keys)


def test_published_changelogs_applied_in_sql(published: DbtProject) -> None:
    latest = ["--vars", "latest: true"]
    assert DUPLICATES in published.fail("run", "--select", "published")
    assert published.version("published") == 0
    published.succeed("run", "--select", "published", *latest)
    assert published.version("published") == 1
    assert rows(published, "published") == [("id1", "val3"), ("id2", "val2")]

    published.sql("insert into {schema}.published values ('id1', 'val9')")
    assert AMBIGUOUS in published.fail("run", "--select", "published", *latest)
    assert published.version("published") == 2


def test_a_hook_may_apply_a_changelog(published: DbtProject) -> None:
    published.succeed("run", "--select", "hook")
    assert rows(published, "hooked") == [("id1", "val3"), ("id2", "val2")]
