"""The documentation site of models that document nothing, were not built, or cannot be followed."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner

import docs_site
from harness import DbtProject

DIMENSION = "{{ config(materialized='scd2', unique_key='id', effective_at='at') }}\n"
MODELS = {
    "silver.sql": "select 1 as id, 'a' as name, 'b' as `odd-name`, timestamp '2024-01-01' as at",
    "undocumented.sql": DIMENSION + "select * from {{ ref('silver') }}",
    "half.sql": DIMENSION + "select * from {{ ref('silver') }}",
    "clocked.sql": "{{ config(materialized='scd2', unique_key='id') }} select id, name from {{ ref('silver') }}",
    "passing.sql": "{{ config(materialized='ephemeral') }} select id, name, at from {{ ref('silver') }}",
    "after_passing.sql": DIMENSION + "select * from {{ ref('passing') }}",
    "off.sql": "{{ config(enabled=false) }} select 1 as id",
    "of_python.py": "def model(dbt, session):\n    return dbt.ref('undocumented')\n",
    "of_nothing.py": "def model(dbt, session):\n    return session.sql('select 1 as one, 2 as two')\n",
    "never_built.sql": DIMENSION + "select * from {{ ref('silver') }}",
    "after_never_built.py": "def model(dbt, session):\n    return dbt.ref('never_built')\n",
    # Spark reads it, and the reader of lineage does not.
    "unreadable.sql": "select id from {{ ref('silver') }} lateral view stack(1, id) as s where id between 1 and 2",
}
SCHEMA = "models: [{name: half, columns: [{name: name, description: A name.}]}]"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    return make_project({**{f"models/{name}": text for name, text in MODELS.items()}, "models/schema.yml": SCHEMA})


def write_site(project: DbtProject) -> Path:
    """What `make docs` makes of a project."""
    messages: list[str] = []
    operation = ["run-operation", "print_lineage_sql", "--project-dir", str(project.directory)]
    project.dbt("parse")
    runner = dbtRunner(callbacks=[lambda event: messages.append(event.info.msg)])
    assert runner.invoke([*operation, "--profiles-dir", str(docs_site.__file__.rpartition("/scripts/")[0])]).success
    project.succeed("docs", "generate", "--static", "--write-json")
    target = project.directory / "target"
    (target / "lineage_sql.json").write_text(next(text for text in messages if text.startswith("{")))
    assert docs_site.main(target) == 0
    return target / "site"


@pytest.fixture(scope="module")
def unbuilt(project: DbtProject) -> tuple[Path, str]:
    """The site before anything is built, and the warnings that come with it."""
    warnings = io.StringIO()
    with redirect_stderr(warnings):
        site = write_site(project)
    return site, warnings.getvalue()


def test_a_site_is_made_where_nothing_is_built(unbuilt: tuple[Path, str]) -> None:
    site, warnings = unbuilt
    assert "docs: warning: the lineage is not whole: run `make build` first" in warnings
    page = (site / "models.html").read_text()
    assert 'href="dbt/index.html#!/model/model.tested.undocumented"' in page
    assert 'href="lineage/index.html?model=model.tested.undocumented' in page
    assert (site / "lineage" / "index.html").exists()
    documentation = (site / "dbt" / "index.html").read_text()
    assert re.findall(r'rel="shortcut icon" href="([^"]*)"', documentation) == ["../images/favicon.svg"]
    assert (site / "images" / "favicon.svg").exists()


def test_columns_come_from_the_tables(
    project: DbtProject,
    unbuilt: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project.succeed("run", "--exclude", "never_built", "after_never_built")
    # The pages are those that MkDocs made before: they say nothing of columns.
    monkeypatch.setattr(docs_site, "build_site", lambda target: (target / "site").resolve())
    site = write_site(project)
    warnings = capsys.readouterr().err
    assert warnings.count("docs: warning") == 1
    assert "model.tested.never_built\n" in warnings
    assert "model.tested.undocumented" not in warnings
    parents = json.loads((site / "lineage" / "colibri-manifest.json").read_text())["lineage"]["parents"]

    def origin(model: str, column: str) -> set[str]:
        found = parents[f"model.tested.{model}"][column]
        return {parent["dbt_node"].rpartition(".")[2] + "." + parent["column"] for parent in found}

    for model in ("undocumented", "half"):
        assert origin(model, "name") == {"silver.name"}
        assert origin(model, "odd-name") == {"silver.odd-name"}
        assert origin(model, "hash_diff") == {"silver.name", "silver.odd-name"}
        assert origin(model, "effective_from") == {"silver.at"}
        assert origin(model, f"{model}_sk") == {"silver.id", "silver.at"}
    assert origin("clocked", "hash_diff") == {"silver.name"}
    assert origin("of_python", "name") == {"undocumented.name"}
    assert origin("after_passing", "hash_diff") & {"silver.name", "passing.name"}


def test_what_the_reader_of_lineage_does_not_foresee_leaves_a_site(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("of another tool")

    monkeypatch.setattr(docs_site, "DbtColumnLineageExtractor", fail)
    assert docs_site.main(project.directory / "target") == 0
    assert "dbt-colibri failed: KeyError: 'of another tool'" in capsys.readouterr().err
    site = project.directory / "target" / "site"
    assert "Not made" in (site / "lineage" / "index.html").read_text()
    assert "Not made" not in (site / "dbt" / "index.html").read_text()
