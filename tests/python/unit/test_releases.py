"""A release has one version, in both of its halves; a run that mixes two releases does not start."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version

import pytest
import yaml
from stubbed_spark import SCHEMA, Answer, StubbedSpark

from dbt_spark_session import versions
from harness import PROJECT_YML, ROOT, DbtProject

PYTHON = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_all_places_name_the_same_version() -> None:
    # Both dbt and Python read it as it stands, so it is a form that they share.
    assert re.fullmatch(r"\d+\.\d+\.\d+", PYTHON)
    for name in ("dbt_project.yml", "integration_tests/dbt_project.yml"):
        assert yaml.safe_load((ROOT / name).read_text())["version"] == PYTHON, name
    newest, *_ = re.findall(r"^## (?!Unreleased)(\S+) - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest == PYTHON
    assert version("delta-scd2") == PYTHON, "`make env` installs this project anew"


class CountingSpark(StubbedSpark):
    """Counts the statements of dbt itself, too."""

    count = 0

    def answer(self, sql: str) -> Answer:
        self.count += 1
        return super().answer(sql)


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> CountingSpark:
    stubbed = CountingSpark({})
    stubbed.install(monkeypatch)
    return stubbed


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    """A project that has the dbt package of another release."""
    made = DbtProject(tmp_path_factory.mktemp("project"), SCHEMA)
    made.write({"dbt_project.yml": PROJECT_YML, "models/m.sql": "{{ config(materialized='view') }} select 1 as id"})
    settings = made.directory / "dbt_packages" / "delta_scd2" / "dbt_project.yml"
    settings.write_text(re.sub(r"^version: .*", "version: 9.8.7", settings.read_text(), flags=re.M))
    return made


@pytest.mark.parametrize("command", ["run", "build"])
def test_a_run_of_two_releases_does_not_start(command: str, project: DbtProject, spark: CountingSpark) -> None:
    said = project.fail(command)
    assert (
        "The dbt package delta_scd2 has version 9.8.7, but the Python package delta-scd2 in dbt's environment has "
        f"version {PYTHON}: set `revision: v{PYTHON}` in `packages.yml`, or update the checkout, and run `dbt deps`; "
        "or install version 9.8.7 of the Python package." in " ".join(said.split())
    )
    assert spark.count == 0


def test_the_python_half_alone_has_nothing_to_compare(
    project: DbtProject, spark: CountingSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "DBT_PACKAGE", "not_installed")
    project.succeed("run")
    assert spark.count > 0


def test_modules_that_were_not_installed_have_no_version(
    project: DbtProject, spark: CountingSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", unknown)
    project.succeed("run")
