"""Renders the timeline of a key as a table for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.table import Table
from rich.text import Text

from delta_scd2.history.timeline import Change, Step, duration_text, timestamp_text

SECOND = 1_000_000
# Below this width, the end of a version and what it says stand below, and not beside, the rest.
NARROW = 60
STYLES = {"new": "green", "changed": "yellow", "returned": "green", "absent": "red"}


def timeline_table(
    title: str, steps: Sequence[Step], columns: Sequence[str], tracked: Collection[str], width: int
) -> Group:
    """A table with one row per version and its changes, and one per absence of the key.

    Args:
        title: The title above the table.
        steps: The timeline of the key.
        columns: The names of the attributes.
        tracked: The attributes whose changes open a version; changes of others are dimmed.
        width: The width of the terminal in characters.
    """
    is_narrow = width < NARROW
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, expand=False)
    table.add_column("", justify="right", style="dim")
    if is_narrow:
        table.add_column("from, to (UTC)", min_width=13)
    else:
        table.add_column("from (UTC)", min_width=10)
        table.add_column("to", min_width=10)
        table.add_column("", no_wrap=True)
    table.add_column("what it says", overflow="fold")
    texts = _timestamp_texts(steps)
    number = 0
    for step in steps:
        number += step.kind != "absent"
        state = [Text(step.kind, STYLES[step.kind]), *map(Text, _flags(step))]
        what = _what(step, columns, tracked)
        begins, ends = texts[step.begins], "" if step.ends is None else texts[step.ends]
        cells: list[str | Text] = [begins, ends, Text("\n").join(state), what]
        if is_narrow:
            cells = [f"{begins}\nto {ends}" if ends else begins, Text("\n").join([*state, what])]
        table.add_row(
            str(number) if step.kind != "absent" else "",
            *cells,
            end_section=True,
        )
    return Group(Text(printable(title), "bold"), Text(), table)


def printable(text: str) -> str:
    """Escape the control characters in a text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _timestamp_texts(steps: Sequence[Step]) -> dict[int, str]:
    """The begins and ends of steps as text, to the second if that tells them apart."""
    times = {at for step in steps for at in (step.begins, step.ends) if at is not None}
    seconds = {at: timestamp_text(at // SECOND * SECOND) for at in times}
    are_apart = len({*seconds.values()}) == len(times)
    return seconds if are_apart else {at: timestamp_text(at) for at in times}


def _flags(step: Step) -> list[str]:
    """The flags of a row in words; that of a tombstone repeats what its step says."""
    if step.version is None:
        return []
    then_deleted = step.version.is_deleted and step.kind != "absent"
    current = "still current" if then_deleted else "current"
    return [*(["then deleted"] if then_deleted else []), *([current] if step.version.is_current else [])]


def _what(step: Step, columns: Sequence[str], tracked: Collection[str]) -> Text:
    if step.kind == "absent":
        lasted = "until now" if step.ends is None else f"for {duration_text(step.ends - step.begins)}"
        return Text(f"deleted, {lasted}", "red")
    assert step.version is not None
    told = [(columns[change.position], _change(change)) for change in step.changes]
    if step.kind == "new":
        told = [(column, _value(value)) for column, value in zip(columns, step.version.values, strict=True)]
    if not told:
        return Text("" if step.kind == "new" else "as before", "dim")
    width = max(cell_len(printable(column)) for column, _ in told) + 2
    # Lines of text fold in a narrow terminal; a nested table would truncate names and values.
    return Text("\n").join(
        Text.assemble((set_cell_size(printable(column), width), "" if column in tracked else "dim"), value)
        for column, value in told
    )


def _change(change: Change) -> Text:
    return Text.assemble(_value(change.old, "red"), (" → ", "dim"), _value(change.new, "green"))


def _value(value: str | None, style: str = "") -> Text:
    if value is None:
        return Text("null", f"{style} italic".strip())
    return Text(printable(value) if value else "''", style)
