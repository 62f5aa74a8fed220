"""Columns and dimensions whose names mean something elsewhere: in a change data feed, or to Spark, which hides them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from harness import INVARIANTS, DbtProject

DATED: dict[str, Any] = {"materialized": "scd2", "unique_key": "id", "effective_at": "at"}
# The feed of another table, or nothing of the kind, may have given the columns their names.
DIMENSIONS = {
    "dim_price": {"source_kind": "changelog"},
    "dim_ignoring": {"ignore_columns": ["ignoring_commit_timestamp"]},
    "dim_tracking": {"track_columns": ["tracking_commit_timestamp"]},
    "dim_overwriting": {"overwrite_columns": ["overwriting_commit_version"], "track_columns": ["id_type"]},
    "dim_keyed": {"unique_key": "keyed_commit_version"},
    "dim_hourly_token": {"scd2_columns": {"state_hash": "{entity}_state"}},
}
DDL = "id int, id_type string, change string, time timestamp, version bigint, at timestamp, _change_type string"
FEED = "change as {0}_change_type, time as {0}_commit_timestamp, version as {0}_commit_version"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {}
    for name, more in DIMENSIONS.items():
        feed = FEED.format(name.removeprefix("dim_"))
        columns = f"id, id_type, {feed}, at" + (", _change_type" if name == "dim_price" else "")
        query = f"select {columns} from {{{{ target.schema }}}}.rows"
        files[f"models/{name}.sql"] = f"{{{{ config(**{DATED | more}) }}}}\n{query}"
    tests = "\n".join(f"  - {{name: {name}, data_tests: {INVARIANTS}}}" for name in DIMENSIONS)
    return make_project({**files, "models/schema.yml": f"models:\n{tests}\n"})


def day(number: int) -> datetime:
    return datetime(2024, 1, number)


def test_columns_named_like_those_of_a_feed_are_columns_like_others(project: DbtProject) -> None:
    for number, change in enumerate(["up", "down"], start=1):
        project.load("rows", DDL, [(1, "a", change, day(number), 7, day(number), "U")])
        # The tests of the second one look at the first version as well.
        project.succeed("run" if number == 1 else "build")
    both = [("up", day(1), day(1)), ("down", day(2), day(2))]
    for name in ("dim_price", "dim_tracking", "dim_keyed", "dim_hourly_token"):
        entity = name.removeprefix("dim_")
        columns = f"{entity}_change_type, {entity}_commit_timestamp, effective_from"
        assert project.history(name, columns) == both, name

    # What changes a column that is not tracked opens no version.
    project.load("rows", DDL, [(1, "a", "down", day(2), 8, day(3), "U")])
    project.succeed("build", "--select", "dim_overwriting", "dim_tracking")
    assert project.history("dim_overwriting", "id_type, overwriting_commit_version") == [("a", 8)]
    assert len(project.history("dim_tracking")) == 2
    project.load("rows", DDL, [(1, "a", "down", day(4), 7, day(4), "U")])
    project.succeed("build", "--select", "dim_ignoring")
    assert len(project.history("dim_ignoring")) == 2
