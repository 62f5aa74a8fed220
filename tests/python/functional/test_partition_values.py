"""Values that Delta does not keep in a partition column are refused, and all others are kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from delta_scd2 import apply_changelog
from harness import DbtProject

LOST = [b"", b"__HIVE_DEFAULT_PARTITION__", b"\0", b"a\0b", b"\xff", b"\xed\xa0\x80"]
KEPT = [
    b"a", b" ", b"/", b"%2F", b"a=b", b"\n", b"null", b"NULL", b"__hive_default_partition__",
    "é".encode(), "\N{GRINNING FACE}".encode(), "\N{REPLACEMENT CHARACTER}".encode(), None,
]  # fmt: skip
OFFENDERS = "UTF-8): " + "; ".join(f"id {number}" for number in range(len(LOST)))

MODELS = {
    "dim_extract": "materialized='scd2', effective_at='at', max_delete_fraction=1",
    "dim_several": "materialized='scd2', effective_at='at', max_delete_fraction=1",
    "dim_increment": "materialized='scd2', effective_at='at', source_kind='increment'",
    "dim_changelog": "materialized='scd2', effective_at='at', source_kind='changelog'",
    "copy": "materialized='scd1', change_ordinal='at'",
}
SOURCES = {
    "dim_extract": "{{ target.schema }}.rows where at = (select max(at) from {{ target.schema }}.rows)",
    "dim_several": "{{ target.schema }}.rows",
    "dim_increment": "{{ target.schema }}.rows",
    "dim_changelog": "(select *, 'U' as _change_type from {{ target.schema }}.rows)",
    "copy": "(select *, 'U' as _change_type from {{ target.schema }}.rows)",
}
# How a text is told is the same for all dimensions.
OF_TEXT = ("dim_extract", "copy")
NAMES = [*MODELS, *(f"{name}_of_text" for name in OF_TEXT)]


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    files = {}
    for name in NAMES:
        kind = name.removesuffix("_of_text")
        value = "value" if name == kind else "cast(value as string) as value"
        config = f"{{{{ config(unique_key='id', partition_by='value', {MODELS[kind]}) }}}}"
        files[f"models/{name}.sql"] = f"{config}\nselect * except (value), {value} from {SOURCES[kind]}\n"
    project = make_project(files)
    project.sql("create schema {schema}")
    return project


def load(project: DbtProject, day: int, values: list[bytes | None], first_id: int) -> None:
    literals = ["null" if value is None else f"X'{value.hex()}'" for value in values]
    rows = ", ".join(
        f"({number}, {value}, timestamp '2024-01-0{day} 00:00:00')" for number, value in enumerate(literals, first_id)
    )
    rows_sql = f"select * from values {rows} as rows (id, value, at)"
    project.sql(f"create or replace table {{schema}}.rows using delta as {rows_sql}")


@pytest.mark.parametrize("data_type", ["string", pytest.param("binary", marks=pytest.mark.slow)])
def test_delta_does_not_keep_them(project: DbtProject, data_type: str) -> None:
    project.sql(f"create table {{schema}}.of_{data_type} (id int, v {data_type}) using delta partitioned by (v)")
    for value in LOST:
        insert = f"insert into {{schema}}.of_{data_type} values (1, X'{value.hex()}')"
        if b"\0" in value:
            with pytest.raises((PySparkException, Py4JJavaError), match="TASK_WRITE_FAILED"):
                project.sql(insert)
        else:
            project.sql(insert)
    stored = project.sql(f"select cast(v as binary) as v from {{schema}}.of_{data_type}")
    replaced = "\N{REPLACEMENT CHARACTER}".encode()
    assert {None if row.v is None else bytes(row.v) for row in stored} == {None, replaced}


def test_they_are_refused_and_the_others_kept(project: DbtProject, spark: SparkSession) -> None:
    def refused() -> dict[str, str]:
        result = project.dbt("run")
        return {run.node.name: str(run.message) for run in result.result.results}

    load(project, 1, LOST, 0)
    messages = refused()
    for name in NAMES:
        assert "rows have a value in `value` that Delta does not keep" in messages[name]
        assert OFFENDERS in messages[name]
    assert not {*NAMES} & project.relations()

    load(project, 1, KEPT, 10)
    project.succeed("run")
    kept = sorted(((number, value) for number, value in enumerate(KEPT, 10)), key=str)
    for name in NAMES:
        found = project.sql(f"select id, cast(value as binary) as value from {{schema}}.{name}")
        assert sorted(((row.id, row.value and bytes(row.value)) for row in found), key=str) == kept, name

    load(project, 2, LOST, 0)
    versions = {name: project.version(name) for name in NAMES}
    messages = refused()
    for name in NAMES:
        assert OFFENDERS in messages[name]
    for name in ("copy", "copy_of_text"):
        changes = spark.table(f"{project.schema}.rows").selectExpr("*", "'U' as _change_type")
        if name == "copy_of_text":
            changes = changes.withColumn("value", changes["value"].cast("string"))
        with pytest.raises(ValueError, match="Delta does not keep") as error:
            apply_changelog(spark, f"{project.schema}.{name}", changes, "id", change_ordinal="at")
        assert OFFENDERS in str(error.value)
    assert {name: project.version(name) for name in NAMES} == versions
