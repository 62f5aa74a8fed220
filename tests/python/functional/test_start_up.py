"""How Spark starts on the `dev` target: from an archive of classes, with room for its own, leaving the talk to dbt."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from jinja2 import Template
from pyspark.sql import SparkSession

from harness import ROOT, DbtProject
from isolated_warehouse import IsolatedWarehouse

DIMENSION = """
{{ config(materialized='scd2', unique_key='id', effective_at='extracted_at') }}
select * from {{ target.schema }}.extract
"""
# What Java says by itself, of a module that Spark asks for.
OF_JAVA = "WARNING: Using incubator modules: jdk.incubator.vector"
MISTAKES = {
    "models/no_column.sql": "select nam from (select 1 as id)",
    "models/no_number.sql": """
        {{ config(materialized='scd2', unique_key='id') }}
        select id, {{ delta_scd2.strict_cast('age', 'int') }} as age from values (1, 'old') as people (id, age)
        """,
    "models/no_name.sql": "{{ config(materialized='table') }} select 1 as `a b`",
    "models/no_frame.py": """
        def model(dbt, session):
            return session.table("nowhere")
        """,
}


def test_spark_starts_from_the_archived_classes(spark: SparkSession) -> None:
    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    assert ".spark/jars/classes.jsa" in Path(f"/proc/{java}/maps").read_text(), (
        "the archive is of another Java or other jars: remove .venv/.ready, and `make archive` makes it anew"
    )


@pytest.mark.parametrize("content", [None, b"no archive"])
def test_java_passes_over_an_archive_that_does_not_fit(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "classes.jsa").write_bytes(content)
    dev = yaml.safe_load((ROOT / "profiles.yml").read_text())["delta_scd2"]["outputs"]["dev"]
    options = Template(dev["server_side_parameters"]["spark.driver.extraJavaOptions"]).render(
        env_var={"DELTA_SCD2_HOME": "", "DELTA_SCD2_JARS": str(tmp_path), "DELTA_SCD2_JAVA_OPTIONS": "-Da=b"}.get
    )
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    command = ["java", *shlex.split(options), "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert str(tmp_path / "classes.jsa") in options
    assert done.stdout == "", done.stdout
    assert re.match("(openjdk|java) version", done.stderr), done.stderr


@pytest.mark.slow
def test_spark_starts_without_a_word(tmp_path: Path) -> None:
    environment = {**os.environ, "DELTA_SCD2_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "tests" / "python")}
    command = [sys.executable, "-c", "from harness import session; session().sql('show tables').collect()"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
    assert (done.stdout + done.stderr).replace(f"{OF_JAVA}\n", "") == ""


def test_an_error_is_told_by_dbt_alone(tmp_path: Path) -> None:
    directory = tmp_path / "project"
    directory.mkdir()
    DbtProject(directory, "dev").write({name: dedent(text) for name, text in MISTAKES.items()})
    status, output = IsolatedWarehouse(tmp_path, "dev").dbt("run", project=directory)
    assert status == 1
    for told in (
        "`nam` cannot be resolved",
        "cannot cast age to int: old",
        "Invalid column names: a b",
        "`nowhere` cannot be found",
    ):
        assert told in output
    assert not re.search(r"^\tat |^\S+ ERROR |ContextLogger|Py4JJavaError", output, re.MULTILINE), output
    # Spark starts between these two lines; each line of dbt begins with a time.
    starting = re.search(r"  Found 4 models.*  1 of 4 START ", output, re.DOTALL)
    assert starting is not None, output
    others = [line for line in starting[0].splitlines()[1:] if not re.match(r"\d\d:\d\d:\d\d  ", line)]
    warnings = re.findall(r"^(?:(?:\S+ ){1,2}WARN |WARNING: ).*", output, re.MULTILINE)
    assert {*others, *warnings} <= {OF_JAVA}, output


def test_a_load_finds_the_classes_that_the_one_before_it_generated(make_project, spark: SparkSession) -> None:
    def generated() -> int:
        metrics = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics  # type: ignore[union-attr]
        return metrics.METRIC_COMPILATION_TIME().getCount()

    project = make_project({"models/dim_daily.sql": DIMENSION})
    for day in range(1, 4):
        before = generated()
        rows = [(key, f"{key % day}", datetime(2024, 1, day)) for key in range(20)]
        project.load("extract", "id int, value string, extracted_at timestamp", rows)
        project.succeed("run")
    # More than a hundred, if Spark kept no more than it does by itself.
    assert generated() - before < 50
