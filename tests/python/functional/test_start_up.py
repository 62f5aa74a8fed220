"""The archive of Java's classes that makes Spark start in half the time."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from jinja2 import Template
from pyspark.sql import SparkSession

from harness import ROOT


def test_spark_starts_from_the_archived_classes(spark: SparkSession) -> None:
    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    assert ".spark/jars/classes.jsa" in Path(f"/proc/{java}/maps").read_text(), (
        "the archive is of another Java or other jars: remove .venv/.ready, and `make env` makes it anew"
    )


@pytest.mark.parametrize("content", [None, b"no archive"])
def test_java_passes_over_an_archive_that_does_not_fit(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "jars").mkdir()
        (tmp_path / "jars" / "classes.jsa").write_bytes(content)
    dev = yaml.safe_load((ROOT / "profiles.yml").read_text())["delta_scd2"]["outputs"]["dev"]
    options = Template(dev["server_side_parameters"]["spark.driver.extraJavaOptions"]).render(
        env_var={"DELTA_SCD2_HOME": str(tmp_path), "DELTA_SCD2_JAVA_OPTIONS": "-Da=b"}.get
    )
    done = subprocess.run(["java", *shlex.split(options), "-version"], capture_output=True, text=True, check=True)
    assert str(tmp_path / "jars" / "classes.jsa") in options
    assert done.stdout == "", done.stdout
    assert done.stderr.startswith("openjdk version"), done.stderr
