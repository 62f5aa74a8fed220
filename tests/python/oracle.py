"""SCD type 2 in plain Python: full extracts applied one after another, as the materialization must do it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Key = Hashable
Extract = tuple[datetime, Mapping[Key, Any]]
OPEN_END = datetime(9999, 12, 31)


@dataclass
class Version:
    """One row of the dimension; `value` stands for all tracked columns."""

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
    for moment, rows in extracts:
        for key, value in rows.items():
            versions = history.setdefault(key, [])
            last = versions[-1] if versions else None
            if last is not None and not last.is_deleted and last.value == value:
                continue
            if last is not None:
                last.is_current = False
                if last.effective_to == OPEN_END:
                    last.effective_to = moment - gap
            versions.append(Version(key, value, moment))
        for key, versions in history.items():
            last = versions[-1]
            if key in rows or last.is_deleted or hard_deletes == "ignore":
                continue
            last.effective_to = moment - gap
            if hard_deletes == "new_record":
                last.is_current = False
                versions.append(Version(key, last.value, moment, is_deleted=True))
            else:
                last.is_deleted = True
                last.is_current = hard_deletes == "soft_delete"
    rows_out = [version.row() for versions in history.values() for version in versions]
    return sorted(rows_out, key=lambda row: (str(row[0]), row[2]))
