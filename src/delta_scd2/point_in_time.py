"""The Python twins of the macros `current`, `as_of` and `as_of_join`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType

from delta_scd2.columns import quoted_column, require_columns
from delta_scd2.hashing import NULL, SEPARATOR
from delta_scd2.timestamps import EPOCH, utc_timestamp

NO_GAP = timedelta(0)
HARD_DELETES = ("soft_delete", "invalidate", "new_record", "ignore")


def current(
    dimension: DataFrame,
    *,
    is_current: str = "is_current",
    is_deleted: str = "is_deleted",
    flag_values: Sequence[Any] = (True, False),
) -> DataFrame:
    """The latest version of every key that is not deleted, and the unknown member.

    Args:
        dimension: All versions of the dimension.
        is_current: The column with the current flag.
        is_deleted: The column with the deleted flag.
        flag_values: The values for true and false in both columns, in this order.

    Raises:
        ValueError: A column is missing, or the flag values are not two different ones.
    """
    require_columns(dimension, "dimension", [is_current, is_deleted])
    yes, no = _flags(flag_values)
    return dimension.where((quoted_column(is_current) == F.lit(yes)) & (quoted_column(is_deleted) == F.lit(no)))


def as_of(
    dimension: DataFrame,
    at: Column | str | date,
    *,
    effective_from: str = "effective_from",
    effective_to: str = "effective_to",
    is_deleted: str = "is_deleted",
    flag_values: Sequence[Any] = (True, False),
    closing_gap: timedelta = NO_GAP,
    hard_deletes: str = "soft_delete",
) -> DataFrame:
    """The versions of a dimension that were valid at a point in time, and the unknown member.

    Args:
        dimension: All versions of the dimension.
        at: The point in time: a timestamp expression, a datetime with a time zone, a date, or a
            text such as `2024-06-02T12:00:00Z`. A text without an offset is in UTC; a date alone
            means midnight in UTC.
        effective_from: The timestamp column with the start of a version, inclusive.
        effective_to: The timestamp column with its end, exclusive after adding `closing_gap`; null
            means open.
        is_deleted: The column that marks tombstones; read only for `hard_deletes="new_record"`.
        flag_values: The values for true and false in that column, in this order.
        closing_gap: The gap between the end of a version and the start of the next.
        hard_deletes: The option of the dimension; tombstones of `new_record` are never valid.

    Raises:
        ValueError: A column is missing, the time is of another type, the datetime has no time zone,
            the text is not a time, or an option has a wrong value.
    """
    if not isinstance(at, Column | str | date):
        raise ValueError(f"The time is `{at}`: give a timestamp expression, a datetime, a date or a text.")
    # Spark reads a naive datetime in the time zone of the Python process, not of its session.
    if isinstance(at, datetime) and at.tzinfo is None:
        raise ValueError(f"The time {at} has no time zone: give it one, for example tzinfo=UTC.")
    if isinstance(at, str | date):
        at = timestamp_of(at)
    validity = Validity(effective_from, effective_to, is_deleted, flag_values, closing_gap, hard_deletes)
    require_columns(dimension, "dimension", validity.columns())
    return dimension.where(validity.at(at))


def as_of_join(
    fact: DataFrame,
    dimension: DataFrame,
    at_column: str,
    keys: str | Sequence[str] | Mapping[str, str],
    *,
    surrogate_key: str,
    alias: str | None = None,
    unknown_member: bool = False,
    effective_from: str = "effective_from",
    effective_to: str = "effective_to",
    is_deleted: str = "is_deleted",
    flag_values: Sequence[Any] = (True, False),
    closing_gap: timedelta = NO_GAP,
    hard_deletes: str = "soft_delete",
) -> DataFrame:
    """Every fact exactly once, with the surrogate key of the version that was valid at its time.

    Args:
        fact: The facts.
        dimension: All versions of the dimension.
        at_column: The timestamp or date column of the facts with the time of each fact; a date
            means midnight in the session time zone.
        keys: The whole business key: column names shared by both sides, or a mapping of fact column
            to dimension column. With a part of the key, a fact meets several versions and is
            repeated; a `DataFrame` does not tell. Both columns need the same type: Spark compares a
            string with a number as numbers.
        surrogate_key: The dimension column to look up.
        alias: Its name in the result; by default unchanged.
        unknown_member: Whether a fact without a version gets the key of the unknown member instead
            of null: the hash of the null business key if surrogate keys are strings, otherwise -1.
        effective_from: As for `as_of`.
        effective_to: As for `as_of`.
        is_deleted: As for `as_of`.
        flag_values: As for `as_of`.
        closing_gap: As for `as_of`.
        hard_deletes: As for `as_of`.

    Raises:
        ValueError: A column is missing, there are no keys, an option has a wrong value, or the facts
            have a column with the name of the result.
    """
    joined = mapped(keys)
    if not joined:
        raise ValueError("A lookup has no keys: name the columns of the business key.")
    validity = Validity(effective_from, effective_to, is_deleted, flag_values, closing_gap, hard_deletes)
    require_columns(fact, "fact", [at_column, *joined])
    require_columns(dimension, "dimension", [surrogate_key, *joined.values(), *validity.columns()])
    result = alias or surrogate_key
    if result.lower() in map(str.lower, fact.columns):
        raise ValueError(f"The fact has a column {result} already: drop it, or give the new one another `alias`.")

    condition = validity.at(quoted_column(at_column, "fact"), "dimension")
    for fact_column, key in joined.items():
        condition &= quoted_column(fact_column, "fact") == quoted_column(key, "dimension")
    found = quoted_column(surrogate_key, "dimension")
    if unknown_member:
        is_text = isinstance(dimension.select(quoted_column(surrogate_key)).schema[0].dataType, StringType)
        found = F.coalesce(found, F.lit(_hash_of_nulls(len(joined)) if is_text else -1))
    return (
        fact.alias("fact").join(dimension.alias("dimension"), condition, "left").select("fact.*", found.alias(result))
    )


@dataclass(frozen=True)
class Validity:
    """The columns and options that define when a version is valid."""

    effective_from: str
    effective_to: str
    is_deleted: str
    flag_values: Sequence[Any]
    closing_gap: timedelta
    hard_deletes: str

    def __post_init__(self) -> None:
        _flags(self.flag_values)
        if not isinstance(self.closing_gap, timedelta) or self.closing_gap < NO_GAP:
            raise ValueError(f"`closing_gap` is `{self.closing_gap}`, expected a timedelta that is not negative.")
        if self.hard_deletes not in HARD_DELETES:
            expected = ", ".join(HARD_DELETES)
            raise ValueError(f"`hard_deletes` is `{self.hard_deletes}`, expected one of {expected}.")

    @property
    def has_tombstones(self) -> bool:
        # Only with `new_record` do deleted rows cover the time after the deletion.
        return self.hard_deletes == "new_record"

    def columns(self) -> list[str]:
        return [self.effective_from, self.effective_to, *([self.is_deleted] if self.has_tombstones else [])]

    def at(self, timestamp: Column, alias: str | None = None) -> Column:
        effective_from, effective_to = (quoted_column(name, alias) for name in (self.effective_from, self.effective_to))
        is_open = (effective_to > shifted(timestamp, -self.closing_gap)) | effective_to.isNull()
        return (effective_from <= timestamp) & is_open & self.is_no_tombstone(alias)

    def is_no_tombstone(self, alias: str | None = None) -> Column:
        return (
            quoted_column(self.is_deleted, alias) == F.lit(self.flag_values[1]) if self.has_tombstones else F.lit(True)
        )


def timestamp_of(time: str | date) -> Column:
    # From a number, because Spark shifts a datetime before 1582 to another calendar.
    return F.timestamp_micros(F.lit((utc_timestamp(time) - EPOCH) // timedelta(microseconds=1)))


def shifted(timestamp: Column, gap: timedelta) -> Column:
    if not gap:
        return timestamp
    # Not an interval, which would follow the session time zone for days.
    return F.timestamp_micros(F.unix_micros(timestamp.cast("timestamp")) + gap // timedelta(microseconds=1))


def _flags(values: Sequence[Any]) -> tuple[Any, Any]:
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != 2 or values[0] == values[1]:
        raise ValueError(
            f"`flag_values` is `{values}`, expected two different texts, whole numbers or booleans, e.g. ['Y', 'N']."
        )
    return values[0], values[1]


def mapped(keys: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(keys, Mapping):
        return dict(keys)
    return {key: key for key in ([keys] if isinstance(keys, str) else keys)}


def _hash_of_nulls(count: int) -> str:
    return hashlib.sha256(SEPARATOR.join([NULL] * count).encode()).hexdigest()
