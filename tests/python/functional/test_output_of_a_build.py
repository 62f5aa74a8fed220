"""What a build prints at its end: the history of its dimensions, compared with a count in Python, and its failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from build import Build
from harness import PROJECT_YML, ROOT, DbtProject

FIRST = datetime(2024, 1, 1)
# The values of each key, by extract; a dot where it is missing. `b` and `d` come back.
EXTRACTS = {
    "a": "1112111",
    "b": "11.1..2",
    "c": ".111333",
    "d": "1....11",
    "e": "11.....",
    "f": "......1",
}
OPTIONS = {
    "dim_closed": "",
    "dim_flagged": "flag_values=['Y', 'N'], closing_gap='1 second', unknown_member=true, open_end=none",
    "dim_invalid": "hard_deletes='invalidate', surrogate_key='sequence'",
    "dim_tombstone": "hard_deletes='new_record', closing_gap='2 days', scd2_columns={'effective_from': 'since'}",
}
HOOKS = 'on-run-end: "{{ delta_scd2.print_history_of_run(results) }}"\n'
STATEMENT = "as follows_previous"


def counted() -> list[tuple[str, ...]]:
    """New, changed, returned, deleted and live keys of each extract, oldest first."""
    lines = []
    for number in range(7):
        new = changed = returned = deleted = live = 0
        for values in EXTRACTS.values():
            before, value = values[:number], values[number]
            was_live = bool(before) and before[-1] != "."
            live += value != "."
            if value == ".":
                deleted += was_live
            elif not before.strip("."):
                new += 1
            elif not was_live:
                returned += 1
            else:
                changed += value != before[-1]
        lines.append((str((FIRST + timedelta(days=3 * number)).date()), new, changed, returned, deleted, live))
    # Only the last five have a line of their own.
    older = [sum(column) for column in zip(*(line[1:] for line in lines[:2]), strict=True)]
    lines[:2] = [("2 earlier", *older[:4], lines[1][-1])]
    return [tuple(map(str, line)) for line in lines]


def printed(output: str) -> dict[str, list[tuple[str, ...]]]:
    """The lines of the table in an output, by dimension."""
    found: dict[str, list[tuple[str, ...]]] = {}
    name = ""
    for line in output.splitlines():
        if cells := re.fullmatch(r"(\w*) +(\S+(?: earlier)?)((?: +[\d,]+){5})", line):
            name = cells[1] or name
            found.setdefault(name, []).append((cells[2], *cells[3].split()))
    return found


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> Iterator[DbtProject]:
    models = {
        f"models/{name}.sql": "{{ config(materialized='scd2', unique_key='id', effective_at='at'"
        + (f", {options}" if options else "")
        + ", max_delete_fraction=1) }}\nselect * from {{ target.schema }}.extracts\n"
        for name, options in OPTIONS.items()
    }
    made = make_project({"dbt_project.yml": PROJECT_YML + HOOKS, **models})
    rows = [
        (key, value, FIRST + timedelta(days=3 * number))
        for key, values in EXTRACTS.items()
        for number, value in enumerate(values)
        if value != "."
    ]
    made.load("extracts", "id string, name string, at timestamp", rows)
    return made


def test_a_build_ends_with_what_each_extract_did(
    project: DbtProject, statements: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    project.succeed("--quiet", "build")
    output = capsys.readouterr().out
    assert printed(output) == dict.fromkeys(OPTIONS, counted())
    assert len([statement for statement in statements if STATEMENT in statement]) == 1
    lines = [line for line in output.splitlines() if line.strip()]
    assert lines[0].split() == ["dimension", "extract", "(UTC)", "new", "changed", "returned", "deleted", "live"]
    assert len(lines) == 1 + 6 * len(OPTIONS)


@pytest.mark.parametrize(
    "arguments",
    [["--no-print", "build"], ["build", "--empty"], ["run"], ["build", "--vars", "scd2_print_history: false"]],
)
def test_nobody_is_told_who_did_not_ask(
    project: DbtProject, statements: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    project.succeed("--quiet", *arguments, "--select", "dim_closed")
    assert printed(capsys.readouterr().out) == {}
    assert [statement for statement in statements if STATEMENT in statement] == []


def test_an_operation_prints_the_history_of_what_it_names(
    project: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    project.succeed("--quiet", "build", "--select", "dim_invalid")
    capsys.readouterr()
    asked = ["--quiet", "run-operation", "print_history", "--args"]
    assert project.dbt(*asked, "{dimensions: [dim_invalid]}").success
    assert printed(capsys.readouterr().out) == {"dim_invalid": counted()}
    assert not project.dbt(*asked, "{dimensions: [dim_invalit]}").success
    assert "did you mean `dim_invalid`?" in capsys.readouterr().out


FAILING = {
    "models/dim_fine.sql": "{{ config(materialized='scd2', unique_key='id') }} select 1 as id, 2 as size",
    "models/tab_wrong.sql": "{{ config(materialized='table') }} select nam from (select 1 as id)",
    "models/tab_left_out.sql": "{{ config(materialized='table') }} select * from {{ ref('tab_wrong') }}",
    "models/schema.yml": """
        models:
          - name: dim_fine
            columns:
              - name: id
                data_tests: [not_null, {accepted_values: {arguments: {values: [7]}}}]
              - name: size
                data_tests: [{accepted_values: {arguments: {values: [8]}, config: {severity: warn}}}]
        """,
}


def test_what_fails_is_told_in_full_and_what_passes_is_counted(
    make_project: Callable[..., DbtProject], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    project = make_project(FAILING)
    monkeypatch.setenv("DELTA_SCD2_SCHEMA", project.schema)
    places = {"--project-dir": project.directory, "--profiles-dir": ROOT, "--log-path": tmp_path}
    assert Build([str(word) for place in places.items() for word in place]).run() == 1
    output = capsys.readouterr().out
    assert "  dim_fine         CREATE 1 opened, 0 closed, 0 deleted  (" in output
    assert "`nam` cannot be resolved" in output
    assert "FAIL 1 accepted_values_dim_fine_id__7" in output
    assert "WARN 1 accepted_values_dim_fine_size__8" in output
    assert "Got 1 result, configured to fail if != 0" in output
    assert "not_null_dim_fine_id" not in output
    assert "not_null_dim_fine_id" in (tmp_path / "dbt.log").read_text()
    last = output.splitlines()[-2:]
    assert re.fullmatch(
        r"build: failed in \d+ s: 1 built, 1 failed, 1 test passed, 1 with warnings, 1 test failed, 1 skipped", last[0]
    )
    assert last[1] == f"log: {tmp_path}/dbt.log, with every statement and every test"
    assert "\x1b" not in output
