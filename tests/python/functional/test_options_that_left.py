"""What a column or an option has left in a table does not come back, and is not lost, once it is gone."""

from __future__ import annotations

import pytest

from harness import DbtProject, stepwise

# The same gap in other words.
GAP = "closing_gap='1 second' if var('step') == 1 else '1000 milliseconds'"
HASH_ONCE = "scd2_columns={'state_hash': 'sh'} if var('step') == 1 else {}"
STEPS = {
    "member": ("source_kind='changelog', inferred_member='is_inferred' if var('step') < 3 else none", {
        1: ("a, is_inferred", "(1, 10, 1, false)"),
        2: ("a, is_inferred", "(1, 5, int(null), true)"),
        3: ("a", "(1, 7, 2)"),
    }),
    "completed": (
        "source_kind='changelog', inferred_member='is_inferred', ignore_columns='note' if var('step') < 3 else []",
        {
            1: ("a, note, is_inferred", "(1, 1, int(null), string(null), true)"),
            2: ("a, note, is_inferred", "(1, 10, 1, 'x', false)"),
            3: ("a, is_inferred", "(1, 20, 2, false)"),
        },
    ),
    "tombstone": ("hard_deletes='new_record', overwrite_columns='phone'", {
        1: ("phone, city", "(1, 1, 'p', 'Bern'), (2, 1, 'p', 'Chur')"),
        2: ("phone, city", "(2, 2, 'p', 'Chur')"),
        3: ("phone", "(2, 3, 'p')"),
        4: ("phone", "(2, 4, 'p')"),
    }),
    "hash": (f"source_kind='increment', {HASH_ONCE}", {
        1: ("name", "(1, 1, 'a'), (1, 5, 'b'), (2, 1, 'a'), (2, 5, 'b')"),
        2: ("name", "(1, 3, 'b')"),
        3: ("name", "(2, 3, 'b')"),
    }),
    "strict": (f"on_schema_change='fail', {GAP}, {HASH_ONCE}", {
        1: ("name", "(1, 1, 'a')"),
        2: ("name", "(1, 2, 'b')"),
        3: ("name", "(1, 3, 'c')"),
    }),
    "variant": ("source_kind='increment', sequence_by='seq', ignore_columns='payload' if var('step') == 1 else []", {
        1: ("seq, name, payload", "(1, 5, 1, 'a', parse_json('[1]'))"),
        2: ("seq, name", "(1, 5, 2, 'b')"),
    }),
    "ignored": ("on_schema_change='ignore'", {
        1: ("name, x", "(1, 1, 'a', 1)"),
        2: ("name", "(1, 2, 'b')"),
        3: ("name, x", "(1, 3, 'c', 'text')"),
    }),
    "named": (HASH_ONCE, {
        1: ("name", "(1, 1, 'a')"),
        2: ("name", "(1, 2, 'b')"),
        5: ("name, sh", "(1, 3, 'c', 7L)"),
    }),
}  # fmt: skip


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    return make_project(stepwise({f"dim_{name}": steps for name, steps in STEPS.items()}))


def test_what_left_changes_no_version(project: DbtProject) -> None:
    messages = {}
    for step in range(1, 5):
        names = [f"dim_{name}" for name, (_, steps) in STEPS.items() if step in steps]
        results = project.succeed("run", "--vars", f"{{step: {step}}}", "--select", *names)
        messages[step] = {name: result.message for name, result in results.items()}

    def found(name: str, columns: str) -> list[tuple]:
        return project.history(f"dim_{name}", f"{columns}, day(effective_from)")

    # An inferred row that was remembered is no event without the option.
    assert found("member", "a") == [(2, 7), (1, 10)]
    # An inferred row that a row completed keeps what that row had in a column that left since.
    assert found("completed", "a, note") == [(1, "x", 1), (2, None, 20)]
    # A tombstone whose version was not read has the values that it had.
    assert messages[4]["dim_tombstone"] == "UNCHANGED"
    # The hash of a version is no value of it.
    assert found("hash", "id, name") == [(1, "a", 1), (1, "b", 3), (2, "a", 1), (2, "b", 3)]
    assert found("strict", "name") == [("a", 1), ("b", 2), ("c", 3)]
    # A row that takes the place of a version says nothing of a variant that left, either.
    assert found("variant", "name, to_json(payload)") == [("b", "[1]", 5)]
    assert "`sh`, and the column of that name in" in project.fail("run", "--vars", "{step: 5}", "--select", "dim_named")
    # What is not stored may have any type.
    assert found("ignored", "name, x") == [("a", 1, 1), ("b", None, 2), ("c", None, 3)]
