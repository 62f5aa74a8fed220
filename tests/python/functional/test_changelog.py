"""Changelogs from Delta's change data feed and from other sources, and the copies that they keep, in SQL and Python."""

from __future__ import annotations

from collections.abc import Callable

from harness import DbtProject

KINDS = {
    "upsert": ["insert", "INSERT", "update_postimage", "UPDATE_AFTER", "I", "u", "c", "r"],
    "delete": ["delete", "DELETE", "D", "d"],
    "before": ["update_preimage", "UPDATE_BEFORE"],
    None: ["update", "truncate", "t", "", None],
}

KIND_MODEL = """
{{ config(materialized='table') }}
select word, {{ _change_kind_sql('word') }} as kind from values %s as words (word)
"""


def test_change_types_by_all_their_names(make_project: Callable[..., DbtProject]) -> None:
    words = [word for words in KINDS.values() for word in words]
    values = ", ".join("(null)" if word is None else f"('{word}')" for word in words)
    project = make_project({"models/kinds.sql": KIND_MODEL % values})
    project.succeed("run")
    expected = {word: kind for kind, words in KINDS.items() for word in words}
    assert dict(map(tuple, project.sql("select * from {schema}.kinds"))) == expected
