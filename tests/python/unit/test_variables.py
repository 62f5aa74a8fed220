"""A variable is read for a dimension as dbt reads it in the package of that model, whatever asks for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner
from stubbed_spark import SCHEMA, Case, StubbedSpark
from test_golden_sql import SOURCE, model

from harness import PROJECT_YML, ROOT, DbtProject

VARS = """
vars:
  scd2_columns: {effective_from: from_all}
  tested: {scd2_columns: {effective_from: from_tested}}
  delta_scd2: {scd2_columns: {effective_from: from_package}}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    made = DbtProject(tmp_path_factory.mktemp("project"), SCHEMA)
    as_of = "select * from {{ delta_scd2.as_of(ref('dim_x'), \"date '2024-01-01'\") }}"
    made.write({"dbt_project.yml": PROJECT_YML + VARS, "models/dim_x.sql": model(), "models/fct_x.sql": as_of})
    return made


@pytest.mark.parametrize(
    ("given", "name"),
    [("", "from_tested"), ("{scd2_columns: {effective_from: from_run}}", "from_run")],
)
def test_columns_have_the_names_of_the_package_of_their_dimension(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch, given: str, name: str
) -> None:
    StubbedSpark({"dim_x": Case(model(), SOURCE)}).install(monkeypatch)
    variables = ["--vars", given] if given else []
    said: list[str] = []
    places = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT), *variables]
    runner = dbtRunner(callbacks=[lambda event: said.append(event.info.msg)])
    for operation in ("scd2_describe", "print_lineage_sql"):
        assert runner.invoke(["run-operation", operation, *places]).success
    described, lineage = (json.loads(text) for text in said if text.startswith("{"))
    assert described["described"][0]["columns"]["effective_from"] == name
    assert f"as `{name}`" in lineage["model.tested.dim_x"]
    project.succeed("compile", *variables)
    compiled = Path(project.directory, "target/compiled/tested/models/fct_x.sql").read_text()
    assert f"`{name}` <=" in compiled
