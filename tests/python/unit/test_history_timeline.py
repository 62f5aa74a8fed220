"""What the history command tells of a key and of a dimension, without a Spark."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from delta_scd2.history.cli import project_root
from delta_scd2.history.dimension import HistoryError, Load, parse_key
from delta_scd2.history.page import distribution, loads_by_calendar
from delta_scd2.history.terminal import timeline_table
from delta_scd2.history.timeline import DAY, Change, Step, Version, changes, duration_text, timeline, timestamp_text
from harness import micros
from oracle import OPEN_END, apply_extracts

TIMES = [datetime(2024, 1, 1) + timedelta(days=n) for n in range(5)]
ABSENT = "absent"
HISTORIES = list(product([ABSENT, None, "", "a"], repeat=len(TIMES)))


def versions_of(state_at: Sequence[str | None], hard_deletes: str) -> list[Version]:
    extracts = [(ts, {"key": state} if state != ABSENT else {}) for ts, state in zip(TIMES, state_at, strict=True)]
    return [
        Version(micros(begins), None if ends == OPEN_END else micros(ends), (value,), is_current, is_deleted)
        for _, value, begins, ends, is_current, is_deleted in apply_extracts(extracts, hard_deletes)
    ]


def told(state_at: Sequence[str | None]) -> list[tuple[str, int, list[tuple[str | None, str | None]]]]:
    """What happened, read from the extracts and not from versions: the kind, the time, and old and new value."""
    happened: list[tuple[str, int, list[tuple[str | None, str | None]]]] = []
    last: list[str | None] = []
    for ts, before, state in zip(TIMES, [ABSENT, *state_at], state_at, strict=False):
        if before == state:
            continue
        if state == ABSENT:
            happened.append(("absent", micros(ts), []))
            continue
        kind = "new" if not last else "returned" if before == ABSENT else "changed"
        happened.append((kind, micros(ts), [(last[-1], state)] if last and last[-1] != state else []))
        last.append(state)
    return happened


@pytest.mark.parametrize("hard_deletes", ["soft_delete", "invalidate", "new_record"])
def test_a_timeline_tells_what_the_extracts_brought(hard_deletes: str) -> None:
    for state_at in HISTORIES:
        steps = timeline(versions_of(state_at, hard_deletes), keeps_tombstones=hard_deletes == "new_record")
        found = [(step.kind, step.begins, [(change.old, change.new) for change in step.changes]) for step in steps]
        assert found == told(state_at)
        # One step ends where the next begins, and the last one lasts.
        assert [step.ends for step in steps] == [*(step.begins for step in steps[1:]), None][: len(steps)]


values = st.lists(st.none() | st.sampled_from(["", "a", "null"]), min_size=4, max_size=4).map(tuple)


@given(values, values)
def test_changes_turn_the_version_before_into_the_one_after(
    before: tuple[str | None, ...], after: tuple[str | None, ...]
) -> None:
    found = changes(Version(0, 1, before, False, False), Version(1, None, after, True, False))
    replayed = list(before)
    for change in found:
        assert replayed[change.position] == change.old != change.new
        replayed[change.position] = change.new
    assert tuple(replayed) == after


@pytest.mark.parametrize(
    ("texts", "columns", "expected"),
    [
        (["LHR"], ["iata"], ["LHR"]),
        (["IATA=LHR"], ["iata"], ["LHR"]),
        (["a=b=c"], ["formula"], ["a=b=c"]),
        (["formula=a=b"], ["formula"], ["a=b"]),
        (["no=7", "region="], ["region", "no"], ["", "7"]),
    ],
)
def test_parse_key(texts: list[str], columns: list[str], expected: list[str]) -> None:
    assert parse_key(texts, columns) == expected


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["regoin=EU", "no=7"], "regoin is not a column of the business key; the nearest: region: the key is given as"),
        (["EU"], "`EU` names no column: the key is given as --key region=… --key no=…."),
        (["no=7"], "The key lacks region: add --key region=…."),
        (["no=7", "no=8"], "The key gives no twice: `7` and `8`."),
    ],
)
def test_parse_key_says_what_is_wrong(texts: list[str], message: str) -> None:
    with pytest.raises(HistoryError) as raised:
        parse_key(texts, ["region", "no"])
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        ([0, 1.5], ["1970-01-01", "1970-01-02 12:00:00"]),
        ([0, 0.25, 0.5, 1], ["1970-01-01", "1970-01-02"]),
        ([0, 1, 2, 40], ["1970-01", "1970-02"]),
        ([0, 100, 200, 400], ["1970", "1971"]),
    ],
)
def test_loads_stand_under_the_finest_calendar_that_fits(days: list[float], texts: list[str]) -> None:
    loads = [Load(int(day * DAY), new=5, changed=3, returned=1, deleted=2) for day in days]
    rows = loads_by_calendar(loads, limit=2)
    assert [row["at"] for row in rows] == texts
    assert {kind: sum(row[kind] for row in rows) for kind in ("new", "changed", "returned", "deleted")} == {
        "new": 5 * len(days), "changed": 3 * len(days), "returned": len(days), "deleted": 2 * len(days),
    }  # fmt: skip
    assert rows[-1]["live"] == 4 * len(days)


@given(st.dictionaries(st.integers(1, 5000), st.integers(1, 9)))
def test_ranges_of_versions_hold_every_key_once(keys_by_versions: dict[int, int]) -> None:
    expected = dict.fromkeys(keys_by_versions, 0)
    rows = distribution(keys_by_versions, limit=3)
    for row in rows:
        low, _, high = row["versions"].partition("–")  # noqa: RUF001
        inside = [number for number in keys_by_versions if int(low) <= number <= int(high or low)]
        assert row["keys"] == sum(keys_by_versions[number] for number in inside) > 0
        for number in inside:
            expected[number] += 1
    assert set(expected.values()) <= {1}
    assert len(rows) <= max(3, 13)


def printed(steps: Sequence[Step], columns: list[str], width: int = 100) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(timeline_table("dim_x  1", steps, columns, columns, width))
    return capture.get()


def test_the_terminal_shows_changes_nulls_and_absences() -> None:
    first = Version(0, DAY, ("a", None), False, False)
    second = Version(DAY, 2 * DAY, ("", None), True, True)
    lines = [" ".join(line.split()) for line in printed(timeline([first, second]), ["city", "lid"]).splitlines()]
    assert lines[4:] == [
        "1 1970-01-01 1970-01-02 new city a",
        "lid null",
        "",
        "2 1970-01-02 1970-01-03 changed city a → ''",
        "then deleted",
        "still current",
        "",
        "1970-01-03 absent deleted, until now",
    ]


def test_the_flags_of_a_row_do_not_contradict_its_kind() -> None:
    only = printed(timeline([Version(0, DAY, ("a",), False, True)]), ["city"])
    assert [" ".join(line.split()) for line in only.splitlines()[4:]] == [
        "1 1970-01-01 1970-01-02 new city a",
        "then deleted",
        "",
        "1970-01-02 absent deleted, until now",
    ]
    # A tombstone is a row of its own, and the words beside it say that the key is deleted.
    tombstone = printed(timeline([Version(0, None, ("a",), True, True)], keeps_tombstones=True), ["city"])
    assert [" ".join(line.split()) for line in tombstone.splitlines()[4:]] == [
        "1970-01-01 absent deleted, until now",
        "current",
    ]


def test_a_narrow_terminal_folds_what_it_cannot_show_in_one_line() -> None:
    first = Version(DAY // 4, DAY * 5 // 4, ("Raymond Longname", "3000.50"), False, False)
    second = Version(DAY * 5 // 4, None, ("Ray", "2000.00"), True, False)
    for width in (60, 40):
        text = printed(timeline([first, second]), ["name", "credit_limit"], width)
        assert max(map(len, text.splitlines())) <= width
        folded = "".join(text.split())
        for part in ("1970-01-02", "06:00:00", "credit_limit", "Raymond", "Longname", "3000.50→", "2000.00", "current"):
            assert part in folded, (width, part)


def test_a_time_is_shown_to_the_second_if_that_tells_times_apart() -> None:
    def shown(second_begins: int) -> str:
        ends = DAY // 4 + second_begins
        versions = [Version(DAY // 4, ends, ("a",), False, False), Version(ends, None, ("b",), True, False)]
        return printed(timeline(versions), ["city"])

    assert "06:00:01 " in shown(1_250_000)
    assert "06:00:01.25" not in shown(1_250_000)
    assert "06:00:00.25" in shown(250_000)


def test_what_follows_a_tombstone_returned_also_where_nothing_older_is_shown() -> None:
    tombstone, version = Version(0, DAY, ("a",), False, True), Version(DAY, None, ("b",), True, False)
    absence, step = timeline([tombstone, version], keeps_tombstones=True)
    assert (absence.kind, step.kind) == ("absent", "returned")
    # A tombstone repeats the values of the version before it.
    assert step.changes == (Change(0, "a", "b"),)


def test_a_value_cannot_steer_the_terminal() -> None:
    version = Version(0, None, ("\x1b[31mred\x07\n[bold]b[/bold]",), True, False)
    text = printed(timeline([version]), ["city"])
    assert "\\x1b[31mred\\x07\\n[bold]b[/bold]" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("ts", "text"),
    [
        (0, "1970-01-01"),
        (1, "1970-01-01 00:00:00.000001"),
        (-DAY // 2, "1969-12-31 12:00:00"),
        (1_500_000, "1970-01-01 00:00:01.5"),
    ],
)
def test_timestamp_text(ts: int, text: str) -> None:
    assert timestamp_text(ts) == text


@pytest.mark.parametrize(
    ("micros", "text"),
    [(5, "less than a second"), (1_000_000, "1 second"), (DAY - 1, "23 hours"), (1500 * DAY, "1,500 days")],
)
def test_duration_text(micros: int, text: str) -> None:
    assert duration_text(micros) == text


def test_a_target_without_a_session_is_refused() -> None:
    # In a process of its own, because other tests leave a session behind.
    code = """
from delta_scd2.history import dimension
described = [{"name": "dim_x", "mistakes": [], "recorded": {"scd2.track_columns": "[]"}}]
dimension._described = lambda name, options: {"found": ["dim_x"], "described": described, "load_log": None}
for read in (lambda: dimension.open_dimension("dim_x", []), lambda: dimension.open_project([])):
    try:
        read()
    except dimension.HistoryError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        f"{reader} cannot be read: dbt's target is not one of the method `session`; choose one with `--target`."
        for reader in ("dim_x", "The project")
    ]


def test_the_directory_of_the_project_is_found_as_dbt_finds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (tmp_path / "dbt_project.yml").touch()
    monkeypatch.delenv("DBT_PROJECT_DIR", raising=False)
    monkeypatch.chdir(models)
    assert project_root(None) == Path("..")
    assert project_root(str(models)) == Path()
    monkeypatch.chdir(tmp_path)
    assert project_root(None) == Path()
    monkeypatch.setenv("DBT_PROJECT_DIR", "models")
    assert project_root(None) == Path("models")
