"""What the lineage of a dimension says of columns that have the names of a feed, or are stored in their place."""

from __future__ import annotations

import json

import pytest
from dbt.cli.main import dbtRunner
from stubbed_spark import SCHEMA, Case, StubbedSpark, Table

from harness import PROJECT_YML, ROOT, DbtProject

CONFIG = "{{{{ config(materialized='scd2', unique_key='id', {}) }}}} select * from {{{{ ref('{}') }}}}"
BATCH = "source_kind='increment', effective_at='at'"
# A dimension by its configuration and what it reads; each has the column of one name.
DIMENSIONS = {
    # A copy of the entity stores the same name.
    "dim_copied": ("effective_at='at'", "copied"),
    "dim_fed": (BATCH, "parent"),
    "dim_sequenced": (f"{BATCH}, sequence_by='_commit_version'", "parent"),
    "dim_tracked": (f"{BATCH}, track_columns='tracked_commit_version'", "parent"),
}
COLUMNS = {"id": "int", "name": "string", "at": "timestamp"}
ADDED = {"hash_diff": "string", "effective_from": "timestamp", "effective_to": "timestamp"}


@pytest.fixture(scope="module")
def lineage(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    project = DbtProject(tmp_path_factory.mktemp("project"), SCHEMA)
    files = {f"models/{name}.sql": CONFIG.format(*text) for name, text in DIMENSIONS.items()}
    files |= {f"models/{name}.sql": "select 1 as id" for name in ("copied", "parent")}
    project.write({"dbt_project.yml": PROJECT_YML, **files})
    tables = {
        name: Table({"id": "int", "name": "string", f"{name.removeprefix('dim_')}_commit_version": "bigint", **ADDED})
        for name in DIMENSIONS
    }
    tables |= {"copied": Table({**COLUMNS, "copied_commit_version": "bigint"}), "parent": Table(COLUMNS)}
    said: list[str] = []
    runner = dbtRunner(callbacks=[lambda event: said.append(event.info.msg)])
    places = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DELTA_SCD2_SCHEMA", SCHEMA)
        spark = StubbedSpark({"all": Case("", COLUMNS, tables)})
        spark.operation = "all"
        spark.install(patch)
        assert runner.invoke(["run-operation", "print_lineage_sql", *places]).success
    found: dict[str, str] = json.loads(next(text for text in said if text.startswith("{")))
    return {name.rpartition(".")[2]: sql for name, sql in found.items()}


@pytest.mark.parametrize(
    ("dimension", "read", "compared"),
    [
        ("dim_copied", "copied_commit_version", "`copied_commit_version`, `name`"),
        ("dim_fed", "_commit_version", "`_commit_version`, `name`"),
        ("dim_sequenced", "_commit_version", "`name`"),
        ("dim_tracked", "tracked_commit_version", "`tracked_commit_version`"),
    ],
)
def test_a_stored_column_comes_from_that_of_the_model(
    lineage: dict[str, str], dimension: str, read: str, compared: str
) -> None:
    stored = dimension.removeprefix("dim_") + "_commit_version"
    assert f"    `{read}` as `{stored}`,\n" in lineage[dimension]
    assert f"    concat({compared}) as `hash_diff`,\n" in lineage[dimension]
