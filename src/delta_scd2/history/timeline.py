"""The history of a key, derived from its versions. Times are microseconds since the epoch, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Literal

EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000_000

Kind = Literal["new", "changed", "returned", "absent"]


@dataclass(frozen=True)
class Version:
    """A row of a dimension; `values` are its attributes as text, `ends` is None if it is open."""

    begins: int
    ends: int | None
    values: tuple[str | None, ...]
    is_current: bool
    is_deleted: bool


@dataclass(frozen=True)
class Change:
    """An attribute, by position, that differs from the previous version."""

    position: int
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Step:
    """A period in the history of a key: a version and its kind, or an absence of the key."""

    kind: Kind
    begins: int
    ends: int | None
    version: Version | None
    changes: tuple[Change, ...] = ()


def timeline(versions: Sequence[Version], keeps_tombstones: bool = False) -> list[Step]:
    """The steps of a key, oldest first; a current absence has no end.

    Args:
        versions: All versions of the key, oldest first.
        keeps_tombstones: Whether rows flagged as deleted cover the absence of the key
            (`hard_deletes: new_record`).
    """
    steps: list[Step] = []
    before: Version | None = None
    for version, following in zip_longest(versions, versions[1:]):
        if keeps_tombstones and version.is_deleted:
            steps.append(Step("absent", version.begins, version.ends, version))
            # A tombstone holds the values of the version before it.
            before = version
            continue
        was_absent = bool(steps) and steps[-1].kind == "absent"
        kind: Kind = "returned" if was_absent else "new" if before is None else "changed"
        steps.append(Step(kind, version.begins, version.ends, version, changes(before, version)))
        before = version
        next_begins = following.begins if following else None
        if version.ends is not None and version.ends != next_begins:
            steps.append(Step("absent", version.ends, next_begins, None))
    return steps


def changes(before: Version | None, after: Version) -> tuple[Change, ...]:
    """The attributes in which two versions differ (null is not ''); empty for a first version."""
    if before is None:
        return ()
    pairs = enumerate(zip(before.values, after.values, strict=True))
    return tuple(Change(position, old, new) for position, (old, new) in pairs if old != new)


def timestamp_text(micros: int) -> str:
    """The text of a time in UTC; for midnight, only the date."""
    at = EPOCH + timedelta(microseconds=micros)
    if micros % DAY == 0:
        return at.date().isoformat()
    return at.isoformat(" ").rstrip("0") if at.microsecond else at.isoformat(" ")


def duration_text(micros: int) -> str:
    """The text of a duration in its largest unit, rounded down."""
    for unit, size in (("day", DAY), ("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000)):
        if micros >= size:
            count = micros // size
            return f"{count:,} {unit}{'s' if count > 1 else ''}"
    return "less than a second"
