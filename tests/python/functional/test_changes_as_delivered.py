"""Changelogs as logs deliver them: change types of any type, changes that come twice, and changes that differ."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from delta_scd2 import apply_changelog, latest_changes
from harness import DbtProject, tuples

# An expression for each type, and how its value is told; none where it is a change type.
TYPES = {
    "true": "true",
    "1": "1",
    "2.50": "2.50BD",
    "1.5": "1.5D",
    "2024-01-01": "date '2024-01-01'",
    "{U}": "struct('U' as kind)",
    "[U]": "array('U')",
    "{U -> I}": "map('U', 'I')",
    "null": "cast(null as boolean)",
    "U!": "cast('U!' as binary)",
    "": "cast('U' as char(9))",
    " ": "cast('UPDATE' as varchar(9))",
}
COPY = "{{ config(materialized='scd1', unique_key='id') }}\n"
DIMENSION = "{{ config(materialized='scd2', source_kind='%s', unique_key='id', effective_at='at') }}\n"
LATEST = "{{ delta_scd2.latest_changes(\"(%s)\", 'id') }}"
TYPED = "select 1 as id, timestamp '2024-01-01' as at, %s as _change_type, 1 as _change_ordinal"
TWICE = """
select 1 as id, map('a', 1, 'b', 2) as tags, timestamp '2024-01-02' as at, 'U' as _change_type, 7 as _change_ordinal
union all select 1, map('b', 2, 'a', 1), timestamp '2024-01-02', 'I', 7
union all select 1, map('a', 0), timestamp '2024-01-01', 'UPDATE_BEFORE', 7
union all select 2, map('a', 3), timestamp '2024-01-02', 'D', 7
union all select 2, null, timestamp '2024-01-02', 'D', 7
union all select null, null, timestamp '2024-01-02', 'U', 7
union all select null, null, timestamp '2024-01-02', 'U', 7
"""
WITH_KEY = f"select * from ({TWICE}) where id is not null"
DIFFERENT = "select 1 as id, 'a' as value, 'U' as _change_type, 7 as _change_ordinal union all select 1, 'b', 'U', 7"
ORDERED = f"{DIFFERENT} union all select 2, 'a', 'U', 7 union all select 2, 'b', 'D', 8"
# The last change decides, be it a row beside a deletion; two different rows do not.
LATER = f"select * from ({ORDERED}) where id = 2 union all select 3, 'a', 'U', 9 union all select 3, 'b', 'D', 9"
UNDECIDED = f"{DIFFERENT} union all select 1, 'c', 'U', 5"
UNORDERED = DIFFERENT.replace("7", "cast(null as int)").replace("'b'", "'a'")
# A row of Delta's feed that came and went, in a model that writes all names in capitals.
SHOUTED = (
    "select 1 as ID, 'I' as _CHANGE_TYPE, 13L as _COMMIT_VERSION, timestamp '2024-01-01' as _COMMIT_TIMESTAMP"
    " union all select 1, 'D', 14L, timestamp '2024-01-02'"
)

MODELS = {
    "typed_flag": COPY + LATEST % (TYPED % "true"),
    "typed_number": COPY + TYPED % "1",
    "typed_struct": COPY + TYPED % "struct('U' as kind)",
    "dim_array": DIMENSION % "changelog" + TYPED % "array('U')",
    "dim_flag": DIMENSION % "changelog" + TYPED % "true",
    "different": COPY + LATEST % DIFFERENT,
    "ordered": COPY + ORDERED,
    "later": COPY + LATER,
    "undecided": COPY + UNDECIDED,
}
REFUSED = {
    "typed_flag": "the changelog holds rows whose `_change_type` is not a change type: true.",
    "typed_number": "the changelog holds rows whose `_change_type` is not a change type: 1.",
    "typed_struct": "the changelog holds rows whose `_change_type` is not a change type: {U}.",
    "dim_array": "1 row(s) whose `_change_type` is unknown: id 1",
    "dim_flag": "1 row(s) whose `_change_type` is unknown: id 1",
    "different": "['id']: id 1. Nothing was written. Remedy: let `_change_ordinal` tell which change",
    "ordered": "identifier columns ['id']: id 1; id 2. Nothing was written. Remedy: let `_change_ordinal` tell which",
    "undecided": "['id']: id 1. Nothing was written. Remedy: let `_change_ordinal` tell which change",
    "later": "['id']: id 2; id 3. Nothing was written. Remedy: keep the last change of each key with `latest",
}
APPLIED = {
    "copy_twice": COPY + TWICE,
    "copy_latest": COPY + LATEST % TWICE.replace("\n", " "),
    "copy_unordered": COPY + f"select * except (_change_ordinal) from ({UNORDERED})",
    "copy_padded": COPY + "select * from {{ target.schema }}.padded",
    "shouted": "{{ config(materialized='table') }}\n"
    f'{{{{ delta_scd2.latest_changes("({SHOUTED})", "id", change_ordinal="_commit_version") }}}}',
    "dim_twice": DIMENSION % "changelog" + WITH_KEY,
    "dim_rows": DIMENSION % "increment" + f"select id, tags, at from ({WITH_KEY}) where _change_type in ('U', 'I')",
    "kinds": "{{ config(materialized='table') }}\nselect\n    "
    + ",\n    ".join(
        f'{{{{ delta_scd2.change_kind_sql("{sql}") }}}} as kind_{number}' for number, sql in enumerate(TYPES.values())
    ),
}


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    project = make_project({f"models/{name}.sql": text for name, text in {**MODELS, **APPLIED}.items()})
    project.sql("create schema {schema}")
    project.sql("create table {schema}.padded (id int, _change_type char(9), _change_ordinal int) using delta")
    project.sql("insert into {schema}.padded values (1, 'I', 1), (2, 'DELETE', 1), (3, 'update', 1)")
    return project


def test_changes_in_sql(project: DbtProject) -> None:
    result = project.dbt("run")
    messages = {node.node.name: " ".join(str(node.message).split()) for node in result.result.results}
    for name, part in REFUSED.items():
        assert part in messages[name]
        assert "SQLSTATE" not in messages[name]
    assert not MODELS.keys() & project.relations()

    assert tuples(project.sql("select _change_type, _commit_version from {schema}.shouted")) == [("D", 14)]
    said = ["upsert" if not told.strip() else None for told in TYPES]
    assert tuples(project.sql("select * from {schema}.kinds")) == [tuple(said)]
    assert [row.id for row in project.sql("select id from {schema}.copy_padded order by id")] == [1, 3]
    assert tuples(project.sql("select id, value from {schema}.copy_unordered")) == [(1, "a")]
    tags = {"a": 1, "b": 2}
    for name in ("copy_twice", "copy_latest"):
        found = project.sql(f"select id, tags from {{schema}}.{name} order by id nulls first")
        assert tuples(found) == [(None, None), (1, tags)]
    for name in ("dim_twice", "dim_rows"):
        assert tuples(project.sql(f"select id, tags from {{schema}}.{name}")) == [(1, tags)]


def test_changes_in_python(project: DbtProject, spark: SparkSession) -> None:
    spark.sql(f"create table {project.schema}.flat using delta as select 0 as id, timestamp '2024-01-01' as at")
    target = f"{project.schema}.flat"
    for told, sql in TYPES.items():
        changes = spark.sql(TYPED % sql)
        for frame in (changes, latest_changes(changes, "id")):
            if told.strip():
                with pytest.raises(
                    ValueError, match=re.escape(f"rows whose `_change_type` is not a change type: {told}.")
                ):
                    apply_changelog(spark, target, frame, "id")
            else:
                apply_changelog(spark, target, frame, "id")
    assert project.version("flat") == 1

    spark.sql(f"create table {project.schema}.tagged (id int, tags map<string, int>, at timestamp) using delta")
    target = f"{project.schema}.tagged"
    last = latest_changes(spark.sql(SHOUTED), "id", change_ordinal="_commit_version")
    assert tuples(last.select("_change_type", "_commit_version").collect()) == [("D", 14)]
    twice = spark.sql(TWICE)
    effects = {"inserted": 2, "updated": 0, "deleted": 0}
    assert apply_changelog(spark, target, latest_changes(twice, "id"), "id") == effects
    assert not any(apply_changelog(spark, target, twice, "id").values())
    spark.sql(f"create table {project.schema}.valued (id int, value string) using delta")
    refused = {"different": DIFFERENT, "ordered": ORDERED, "later": LATER, "undecided": UNDECIDED}
    for name, sql in refused.items():
        with pytest.raises(ValueError, match=re.escape(REFUSED[name].replace(" Nothing", "\nNothing"))):
            apply_changelog(spark, f"{project.schema}.valued", spark.sql(sql), "id")
    unordered = apply_changelog(spark, f"{project.schema}.valued", spark.sql(UNORDERED), "id")
    assert unordered == {"inserted": 1, "updated": 0, "deleted": 0}
