"""What a load says where it does not go on: what happened, and the change or command that helps. Needs no Spark."""

from __future__ import annotations

import pytest
from stubbed_spark import SCHEMA, StubbedSpark
from test_golden_sql import SOURCE, case, compared, dimension, extracts, model

from harness import PROJECT_YML, DbtProject

# A column gone, which was a text; another comes in its place.
RENAMED = {name: data_type for name, data_type in SOURCE.items() if name != "city"}
WARNINGS_ARE_ERRORS = ["--warn-error-options", '{"error": ["JinjaLogWarning"]}']
CASES = {
    "wider_key": case(model(unique_key=["id", "city"]), dimension("wider_key")),
    "other_key": case(model(unique_key="name"), dimension("other_key")),
    "wider_key_and_ignored": case(
        model(unique_key=["id", "city"], ignore_columns=["name"]), dimension("wider_key_and_ignored")
    ),
    "null_now": case(model(open_end=None), dimension("null_now")),
    "null_before": case(model(), dimension("null_before", **{"scd2.open_end": "None"})),
    "older": case(model(), dimension("older"), compared=compared(1), rows=extracts(1)),
    "renamed": case(model(), dimension("renamed"), source={**RENAMED, "town": "string"}, rows=extracts(3)),
    "dropped_and_added": case(
        model(), dimension("dropped_and_added"), source={**RENAMED, "size": "int"}, rows=extracts(3)
    ),
    "empty": case(model(), dimension("empty"), compared=[{**compared(3)[0], "row_count": 0}], rows=[], holds=[]),
}
CASES["older"].tables["older"].properties["scd2.extracts"] = "2024-01-02 00:00:00"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each load says, in one line."""
    project = DbtProject(tmp_path_factory.mktemp("project"), SCHEMA)
    models = {f"models/{name}.sql": case.model for name, case in CASES.items()}
    project.write({"dbt_project.yml": PROJECT_YML, **models})
    with pytest.MonkeyPatch.context() as patch:
        StubbedSpark(CASES).install(patch)
        results = project.dbt(*WARNINGS_ARE_ERRORS, "run").result.results
    return {result.node.name: " ".join(str(result.message).split()) for result in results}


@pytest.mark.parametrize(
    ("name", "key", "hint"),
    [
        ("wider_key", '["id", "city"]', ""),
        ("other_key", '["name"]', " (the model can return a renamed column by its old name)"),
    ],
)
def test_another_key_is_one_mistake(said: dict[str, str], name: str, key: str, hint: str) -> None:
    assert "1 mistake(s) in the configuration" in said[name]
    assert (
        f'`unique_key` was `["id"]` when gold.{name} was built and is `{key}` now, which its history cannot follow:'
        f" restore the option{hint}, or rebuild the dimension from what its source still has with `dbt run"
        f" --full-refresh --select {name}"
        " --vars '{scd2_discard_history: true}'`. Nothing was written."
    ) in said[name]


def test_what_else_is_tracked_is_another_mistake(said: dict[str, str]) -> None:
    message = said["wider_key_and_ignored"]
    assert "2 mistake(s) in the configuration" in message
    assert (
        "`track_columns` was `city,name` when gold.wider_key_and_ignored was built and is `` now, which its history"
        " cannot follow (it differs in name): restore the option, or rebuild the dimension from what its source still"
        " has with `dbt run --full-refresh"
    ) in message


def test_no_open_end_is_null(said: dict[str, str]) -> None:
    assert "`open_end` was `9999-12-31` when gold.null_now was built and is `null` now" in said["null_now"]
    assert "`open_end` was `null` when gold.null_before was built and is `9999-12-31` now" in said["null_before"]


def test_an_older_extract(said: dict[str, str]) -> None:
    assert (
        "older: the extract of 2024-01-01 00:00:00 UTC comes too late: the dimension already has the history up to"
        " 2024-01-02 00:00:00 UTC. Nothing was written. Remedy: leave this extract out of the model. Or, to put it"
        " into the history, let the model return it and every later extract (one that is missing is lost from the"
        " history), and run `dbt run --select older --vars '{scd2_rebuild_from: \"2024-01-01 00:00:00\"}'`."
    ) in said["older"]


def test_an_empty_extract(said: dict[str, str]) -> None:
    assert (
        "empty: the extract has 0 row(s), fewer than `min_rows` (1). Nothing was written. Remedy: load the whole"
        " extract; if there is no new one, return the last one again, or set `min_rows` to 0."
    ) in said["empty"]


def test_a_column_that_may_have_been_renamed(said: dict[str, str]) -> None:
    dropped = "the model no longer returns the column `city`, which is null from now on"
    assert (
        f"renamed: {dropped}, and returns the new column(s) `town`. If `city` was renamed, its history breaks here:"
        " undo this load with `dbt run-operation undo_load --args '{model: renamed, apply: true}'`, and keep the old"
        " name in the model, as in `town as city`"
    ) in said["renamed"]
    # A column of another type is not the same under another name.
    assert f"dropped_and_added: {dropped}" in said["dropped_and_added"]
    assert "renamed" not in said["dropped_and_added"]
