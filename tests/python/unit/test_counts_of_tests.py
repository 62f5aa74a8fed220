"""Which tests of a dimension are counted together, and which ask for themselves, without a Spark."""

from __future__ import annotations

import re

import pytest
from dbt.cli.main import dbtRunner
from stubbed_spark import SCHEMA, Case, StubbedSpark, Table

from harness import INVARIANTS, PROJECT_YML, ROOT, DbtProject

NAMES = re.findall(r"delta_scd2\.(\w+)", INVARIANTS)
MODEL = "{{ config(materialized='scd2', unique_key='id', track_columns=['name'], effective_at='at') }}\nselect 1 as id"
COLUMNS = {
    "id": "int", "name": "string", "effective_from": "timestamp", "effective_to": "timestamp",
    "is_current": "boolean", "is_deleted": "boolean",
}  # fmt: skip
# One of each kind that asks for itself, beside two that are counted together.
SINGULAR = """
      - delta_scd2.versions_differ
      - delta_scd2.deleted_rows_closed
      - delta_scd2.versions_differ: {name: filtered, config: {where: id > 1}}
      - delta_scd2.versions_differ: {name: limited, config: {limit: 5}}
      - delta_scd2.versions_differ: {name: calculated, config: {fail_calc: count(id)}}
      - delta_scd2.versions_differ: {name: warning, config: {warn_if: '> 5'}}
      - delta_scd2.versions_differ: {name: tolerant, config: {error_if: '> 5'}}
      - delta_scd2.versions_differ: {name: stored, config: {store_failures: true}}
      - delta_scd2.versions_differ: {name: stored_as_view, config: {store_failures_as: view}}
      - delta_scd2.versions_differ: {name: other_arguments, arguments: {track_columns: [id]}}
"""
# Spark describes columns as those of a view, which reads no row.
DESCRIBES = "describe|create or replace temporary view `__dbt_bound_"
OWN = re.compile(rf"from \(?(?:select \* from )?{SCHEMA}\.\w+")


def counted(statements: list[str]) -> list[list[str]]:
    """The tests whose rows each count of several tests tells."""
    return [[name for name in NAMES if f" as {name}" in sql] for sql in statements if "from business_keys" in sql]


def own(statements: list[str]) -> list[str]:
    """The statements in which a test reads the dimension for itself."""
    about = [sql for sql in statements if not re.match(DESCRIBES, sql) and "from business_keys" not in sql]
    return [sql for sql in about if OWN.search(sql)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    made = DbtProject(tmp_path_factory.mktemp("project"), SCHEMA)
    yaml = f"models:\n  - {{name: dim_plain, data_tests: {INVARIANTS}}}\n  - name: dim_mixed\n    data_tests:{SINGULAR}"
    made.write(
        {
            "dbt_project.yml": PROJECT_YML,
            "models/dim_plain.sql": MODEL,
            "models/dim_mixed.sql": MODEL,
            "models/schema.yml": yaml,
        }
    )
    return made


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> StubbedSpark:
    answers = {
        "from business_keys": [dict.fromkeys(NAMES, 0)],
        "as failures": [{"failures": 0, "should_warn": False, "should_error": False}],
    }
    tables = {name: Table(dict(COLUMNS)) for name in ("dim_plain", "dim_mixed")}
    stubbed = StubbedSpark({"tests": Case(MODEL, COLUMNS, tables, answers)})
    stubbed.operation = "tests"
    stubbed.install(monkeypatch)
    return stubbed


def sent(spark: StubbedSpark, project: DbtProject, *arguments: str) -> list[str]:
    """The statements of a run; without arguments, of that of the five tests of a dimension."""
    spark.statements.clear()
    project.succeed(*(arguments or ("test", "--select", "dim_plain")), "--threads", "1")
    return list(spark.statements["tests"])


def test_the_tests_of_a_dimension_read_it_once(spark: StubbedSpark, project: DbtProject) -> None:
    statements = sent(spark, project)
    assert counted(statements) == [NAMES]
    assert own(statements) == []
    assert sum("-- 0 failing rows, counted with the other tests of dim_plain" in sql for sql in statements) == len(
        NAMES
    )


def test_a_test_whose_rows_fail_reads_them_itself(spark: StubbedSpark, project: DbtProject) -> None:
    spark.cases["tests"].answers["from business_keys"] = [dict.fromkeys(NAMES, 0) | {"valid_intervals": 2}]
    statements = sent(spark, project)
    assert counted(statements) == [NAMES]
    (read,) = own(statements)
    assert "_scd2_problem is not null" in read


def test_only_tests_of_the_run_are_counted(spark: StubbedSpark, project: DbtProject) -> None:
    names = NAMES[1:3]
    tests = [f"delta_scd2_{name}_dim_plain_" for name in names]
    assert counted(sent(spark, project, "test", "--select", *tests)) == [names]


def test_a_test_alone_asks_for_itself(spark: StubbedSpark, project: DbtProject) -> None:
    statements = sent(spark, project, "test", "--select", f"delta_scd2_{NAMES[0]}_dim_plain_")
    assert counted(statements) == []
    assert len(own(statements)) == 1


def test_failures_are_stored_as_they_are_found(spark: StubbedSpark, project: DbtProject) -> None:
    statements = sent(spark, project, "test", "--select", "dim_plain", "--store-failures")
    assert counted(statements) == []
    assert len(own(statements)) == len(NAMES)


def test_a_test_that_counts_otherwise_asks_for_itself(spark: StubbedSpark, project: DbtProject) -> None:
    statements = sent(spark, project, "test", "--select", "dim_mixed")
    assert counted(statements) == [["versions_differ", "deleted_rows_closed"]]
    assert len(own(statements)) == SINGULAR.count("name: ")


@pytest.mark.parametrize("command", ["compile", "build"])
def test_without_data_nothing_is_counted(spark: StubbedSpark, project: DbtProject, command: str) -> None:
    arguments = [command, "--select", "dim_plain,resource_type:test", *(["--empty"] if command == "build" else [])]
    statements = sent(spark, project, *arguments)
    assert counted(statements) == []
    # The tests were selected, and those that ran asked for themselves.
    assert (len(own(statements)) >= len(NAMES)) == (command == "build")


def test_a_table_without_one_of_the_columns_is_asked_by_each_test(spark: StubbedSpark, project: DbtProject) -> None:
    del spark.cases["tests"].tables["dim_plain"].columns["is_deleted"]
    statements = sent(spark, project)
    assert counted(statements) == []
    assert len(own(statements)) == len(NAMES)


def test_a_count_holds_for_one_run(spark: StubbedSpark, project: DbtProject) -> None:
    manifest = project.dbt("parse").result
    for _ in range(2):
        spark.statements.clear()
        arguments = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT), "--threads", "1"]
        assert dbtRunner(manifest=manifest).invoke(["test", "--select", "dim_plain", *arguments]).success
        assert counted(spark.statements["tests"]) == [NAMES]
