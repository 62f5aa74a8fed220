"""A dimension that a person names is the one that dbt means, with versions and packages."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from delta_scd2.history.cli import main
from harness import PROJECT_YML, ROOT, DbtProject

MODEL = """
{{{{ config(materialized='scd2', file_format='delta', unique_key='id', scd2_columns={{'surrogate_key': 'sk'}}) }}}}
select 1 as id, '{value}' as value, {{{{ var('size', 1) }}}} as size
"""
VERSIONS = """
version: 2
models:
  - name: dim_ver
    latest_version: 2
    versions: [{v: 1}, {v: 2}, {v: "next"}]
"""
RESOLVE = """
{% macro resolve(names) %}
    {%- set found = {} -%}
    {%- for name in names -%}
        {%- do found.update({name: delta_scd2.named_dimensions(name) | map(attribute='unique_id') | list}) -%}
    {%- endfor -%}
    {%- do print(tojson({'found': found, 'addresses': delta_scd2.node_addresses(delta_scd2.dimension_nodes())})) -%}
{% endmacro %}
"""
V1, V2, NEXT = (f"model.tested.dim_ver.v{version}" for version in ("1", "2", "next"))
FOUND = {
    "dim_ver": [V2],
    "dim_ver.v1": [V1],
    "dim_ver.v2": [V2],
    "dim_ver_v1": [V1],
    "dim_ver.vnext": [NEXT],
    "tested.dim_ver": [V2],
    "tested.dim_ver.v1": [V1],
    "tested.gold.dim_ver.v1": [V1],
    V1: [V1],
    "dim_ver.v3": [],
    "dim_both": ["model.tested.dim_both"],
    "other.dim_both": ["model.other.dim_both"],
    "other.gold.dim_both": ["model.other.dim_both"],
    "tested.dim_both": ["model.tested.dim_both"],
    "dim_theirs": ["model.other.dim_theirs", "model.third.dim_theirs"],
    "third.dim_theirs": ["model.third.dim_theirs"],
    "dim_only": ["model.third.dim_only"],
    "tested.dim_only": [],
    # A disabled model, and one of another materialization, is no dimension.
    "dim_off": [],
    "plain": [],
}
# Where dbt selects a dimension of another package, its package and folders stand before it.
ADDRESSES = [
    "dim_both", "dim_ver.v1", "dim_ver.v2", "dim_ver.vnext",
    "other.gold.dim_both", "other.gold.dim_theirs", "third.gold.dim_only", "third.gold.dim_theirs",
]  # fmt: skip


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {
        "dbt_project.yml": PROJECT_YML + "vars: {size: 1}\n" + "on-run-start: \"{{ print('a word before') }}\"\n",
        "macros/resolve.sql": RESOLVE,
        "models/gold/versions.yml": VERSIONS,
        "models/gold/dim_off.sql": MODEL.format(value="off").replace("unique_key", "enabled=false, unique_key"),
        "models/gold/plain.sql": "{{ config(materialized='table') }}\nselect 1 as id",
    }
    for name in ("dim_ver_v1", "dim_ver_v2", "dim_ver_vnext", "dim_both"):
        files[f"models/gold/{name}.sql"] = MODEL.format(value=name)
    for package, names in {"other": ["dim_both", "dim_theirs"], "third": ["dim_theirs", "dim_only"]}.items():
        files[f"dbt_packages/{package}/dbt_project.yml"] = f"name: {package}\nversion: 1.0.0\nconfig-version: 2\n"
        for name in names:
            schema = f"schema='{package}', unique_key"
            files[f"dbt_packages/{package}/models/gold/{name}.sql"] = MODEL.format(value=package).replace(
                "unique_key", schema
            )
    project = make_project(files)
    for size in ("1", "2"):
        project.succeed("run", "--select", "dim_ver", "--vars", f"{{size: {size}}}")
    return project


def printed(capsys: pytest.CaptureFixture[str], project: DbtProject, operation: str, **arguments: object) -> str:
    capsys.readouterr()
    project.dbt("run-operation", operation, "--args", json.dumps(arguments))
    return capsys.readouterr().out


def test_a_name_means_what_it_means_to_dbt(project: DbtProject, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, project, "resolve", names=[*FOUND])
    answer = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    assert {name: sorted(found) for name, found in answer["found"].items()} == FOUND
    assert sorted(answer["addresses"]) == ADDRESSES


def test_operations_take_the_latest_version_or_the_one_that_is_named(
    project: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, table in (
        ({"model": "dim_ver"}, "dim_ver_v2"),
        ({"model": "dim_ver", "v": 1}, "dim_ver_v1"),
        ({"model": "dim_ver_v1"}, "dim_ver_v1"),
    ):
        assert f"restore table {project.schema}.{table} to version" in printed(
            capsys, project, "undo_load", **arguments
        ).replace("`", "")
        assert f"\n{table.replace('ver_', 'ver.')} " in printed(
            capsys, project, "print_history", dimensions=".v".join(map(str, arguments.values()))
        )
    assert "dim_both has no table" in printed(capsys, project, "undo_load", model="tested.dim_both")
    assert "dim_both has no table" in printed(capsys, project, "print_history", dimensions=["tested.dim_both"])
    assert "did you mean `dim_ver.v" in printed(capsys, project, "undo_load", model="dim_vers.v2")
    several = printed(capsys, project, "migrate_dimension", model="dim_theirs", **{"from": "a.b"})
    assert "`dim_theirs` names several models" in several
    assert "other.gold.dim_theirs, third.gold.dim_theirs" in several


def test_the_command_takes_the_same_names(project: DbtProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTA_SCD2_SCHEMA", project.schema)
    options = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT)]

    def history(name: str) -> str:
        return CliRunner().invoke(main, ["history", name, "--key", "1", *options]).output

    assert "dim_ver_v1" in history("dim_ver.v1")
    assert "dim_ver_v2" in history("dim_ver")
    assert "names several scd2 models: name one of other.gold.dim_theirs, third.gold.dim_theirs" in " ".join(
        history("dim_theirs").split()
    )
