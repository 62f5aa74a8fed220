"""SCD type 2 in plain Python, as a reference for the materialization."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Key = Hashable
Extract = tuple[datetime, Mapping[Key, Any]]
OPEN_END = datetime(9999, 12, 31)
# The columns of a row of the dimension, in the order of `Version.row`.
COLUMNS = "id, value, effective_from, effective_to, is_current, is_deleted"


@dataclass
class Version:
    """One row of the dimension; `value` represents all tracked columns."""

    key: Key
    value: Any
    effective_from: datetime
    effective_to: datetime = OPEN_END
    is_current: bool = True
    is_deleted: bool = False

    def row(self) -> tuple[Any, ...]:
        return (self.key, self.value, self.effective_from, self.effective_to, self.is_current, self.is_deleted)


def apply_extracts(
    extracts: Sequence[Extract], hard_deletes: str = "soft_delete", gap: timedelta = timedelta(0)
) -> list[tuple[Any, ...]]:
    """The rows of the dimension after all extracts, sorted by key and effective_from."""
    history: dict[Key, list[Version]] = {}
    for ts, rows in extracts:
        for key, value in rows.items():
            versions = history.setdefault(key, [])
            last = versions[-1] if versions else None
            if last is not None and not last.is_deleted and last.value == value:
                continue
            if last is not None:
                last.is_current = False
                if last.effective_to == OPEN_END:
                    last.effective_to = ts - gap
            versions.append(Version(key, value, ts))
        for key, versions in history.items():
            last = versions[-1]
            if key in rows or last.is_deleted or hard_deletes == "ignore":
                continue
            last.effective_to = ts - gap
            if hard_deletes == "new_record":
                last.is_current = False
                versions.append(Version(key, last.value, ts, is_deleted=True))
            else:
                last.is_deleted = True
                last.is_current = hard_deletes == "soft_delete"
    rows_out = [version.row() for versions in history.values() for version in versions]
    return sorted(rows_out, key=lambda row: (str(row[0]), row[2]))


Event = tuple[datetime, str, Any]
Interval = tuple[datetime, datetime, Any]


def apply_events(
    batches: Sequence[Mapping[Key, Sequence[Event]]], hard_deletes: str = "soft_delete"
) -> list[tuple[Any, ...]]:
    """The rows of the dimension after all batches of (time, 'upsert' or 'delete', value).

    An event that leaves no trace in the intervals after its batch is forgotten.
    """
    histories: dict[Key, list[Interval]] = {}
    for batch in batches:
        for key, events in batch.items():
            said = [event for event in events if event[1] == "upsert" or hard_deletes != "ignore"]
            histories[key] = _lay_out(_events_of(histories.get(key, [])) + said)
    rows = [row for key, intervals in histories.items() for row in _rows(key, intervals, hard_deletes)]
    return sorted(rows, key=lambda row: (str(row[0]), row[2]))


def _events_of(intervals: Sequence[Interval]) -> list[Event]:
    """The events of intervals; a gap between two of them is a deletion."""
    begins = {begin for begin, _, _ in intervals} | {OPEN_END}
    events: list[Event] = [(begin, "upsert", value) for begin, _, value in intervals]
    return events + [(end, "delete", None) for _, end, _ in intervals if end not in begins]


def _lay_out(events: Sequence[Event]) -> list[Interval]:
    """Build intervals from events; a row replaces a deletion at its time, and repeats are dropped."""
    at_time = {event[0]: event for event in sorted(events, key=lambda event: (event[0], event[1] == "upsert"))}
    intervals: list[Interval] = []
    for ts, kind, value in at_time.values():
        is_live = bool(intervals) and intervals[-1][1] == OPEN_END
        if is_live and kind == "upsert" and intervals[-1][2] == value:
            continue
        if is_live:
            intervals[-1] = (intervals[-1][0], ts, intervals[-1][2])
        if kind == "upsert":
            intervals.append((ts, OPEN_END, value))
    return intervals


def _rows(key: Key, intervals: Sequence[Interval], hard_deletes: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for number, (begin, end, value) in enumerate(intervals):
        following = intervals[number + 1][0] if number + 1 < len(intervals) else OPEN_END
        is_deleted = end < following
        is_last = following == OPEN_END
        if hard_deletes == "new_record":
            rows.append((key, value, begin, end, end == OPEN_END, False))
            if is_deleted:
                rows.append((key, value, end, following, is_last, True))
        else:
            is_current = is_last and (not is_deleted or hard_deletes == "soft_delete")
            rows.append((key, value, begin, end, is_current, is_deleted))
    return rows
