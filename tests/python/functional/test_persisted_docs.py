"""Descriptions of columns are kept with the table, and cost a commit only where they are new."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from harness import DbtProject

MODELS = {
    "dim": "{{ config(materialized='scd2', unique_key='id', effective_at='at') }}",
    "copy": "{{ config(materialized='scd1', unique_key='id', change_type='kind', change_ordinal='at') }}",
}
# 25 columns, for a load to need more commits than `undo_load` reads at first.
NAMES = [*(f"a{number}" for number in range(24)), "on-sale"]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    project = make_project(
        {f"models/{name}.sql": config + " select * from {{ target.schema }}.rows" for name, config in MODELS.items()}
    )
    ddl = "id int, at timestamp, kind string, " + ", ".join(f"`{name}` string" for name in NAMES)
    project.sql("create schema if not exists {schema}")
    project.load("rows", ddl, [(1, None, "insert", *NAMES)])
    project.sql("update {schema}.rows set at = timestamp '2024-01-01'")
    return project


def describe(project: DbtProject, model: str, descriptions: dict[str, str]) -> None:
    columns = [{"name": name, "description": text} for name, text in descriptions.items()]
    docs = {"persist_docs": {"columns": True}}
    properties = {"version": 2, "models": [{"name": model, "config": docs, "columns": columns}]}
    project.write({f"models/{model}.yml": json.dumps(properties)})


def comments(project: DbtProject, model: str) -> dict[str, str]:
    return {row.col_name: row.comment for row in project.sql(f"describe query select * from {{schema}}.{model}")}


@pytest.mark.parametrize("model", MODELS)
def test_only_a_description_that_changed_is_a_commit(project: DbtProject, model: str) -> None:
    descriptions = {"ID": "It's the key, as in C:\\new.", "a0": "", **dict.fromkeys(NAMES[1:3], "First.")}
    descriptions["on-sale"] = "Not ${env:HOME}."
    describe(project, model, descriptions)
    project.succeed("run", "--select", model)
    expected = {**descriptions, "a0": None}
    expected["id"] = expected.pop("ID")
    assert expected.items() <= comments(project, model).items()

    version = project.version(model)
    project.succeed("run", "--select", model)
    assert project.version(model) == version

    describe(project, model, {**descriptions, "a1": "Second."})
    # A partial run changes nothing, not even a comment.
    project.succeed("run", "--select", model, "--empty")
    assert project.version(model) == version
    project.succeed("run", "--select", model)
    assert project.version(model) == version + 1
    assert comments(project, model)["a1"] == "Second."


def test_a_load_of_many_commits_is_taken_back_as_a_whole(project: DbtProject) -> None:
    describe(project, "dim", {})
    project.succeed("run", "--select", "dim")
    before = project.version("dim")
    # Delta would rather not go back to versions of more than a week ago.
    project.age("dim", datetime.now(UTC) - timedelta(days=8))
    project.sql("update {schema}.rows set a0 = 'changed', at = at + interval 1 day")
    describe(project, "dim", dict.fromkeys(NAMES, "Third."))
    project.succeed("run", "--select", "dim")
    assert project.version("dim") > before + len(NAMES)

    undone = project.dbt("run-operation", "undo_load", "--args", '{"model": "dim", "apply": true}')
    assert undone.success
    assert [tuple(row) for row in project.sql("select a0, is_current from {schema}.dim")] == [("a0", True)]


def test_comments_that_came_later_do_not_stand_for_the_last_load(project: DbtProject) -> None:
    project.sql("update {schema}.rows set a0 = 'wrong', at = at + interval 1 day")
    project.succeed("run", "--select", "dim")
    describe(project, "dim", dict.fromkeys(NAMES, "Third.") | dict.fromkeys(NAMES[:3], "Fourth."))
    assert project.succeed("run", "--select", "dim")["dim"].message == "UNCHANGED"
    assert project.dbt("run-operation", "undo_load", "--args", '{"model": "dim", "apply": true}').success
    assert [tuple(row) for row in project.sql("select a0, is_current from {schema}.dim")] == [("a0", True)]
    assert project.succeed("run", "--select", "dim")["dim"].message != "UNCHANGED"
    assert comments(project, "dim")["a1"] == "Fourth."


@pytest.mark.parametrize("model", MODELS)
def test_the_description_of_a_table_that_changed_is_a_commit(project: DbtProject, model: str) -> None:
    project.succeed("run", "--select", model)
    for text in ("It's the\ntable, as in C:\\new.\n", "Another one."):
        docs = {"persist_docs": {"relation": True}}
        properties = {"version": 2, "models": [{"name": model, "config": docs, "description": text}]}
        project.write({f"models/{model}.yml": json.dumps(properties)})
        before = project.version(model)
        for _ in range(2):
            project.succeed("run", "--select", model)
            assert project.sql(f"describe detail {{schema}}.{model}")[0].description == text
            assert project.version(model) == before + 1
