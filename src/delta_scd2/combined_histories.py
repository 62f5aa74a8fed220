"""The Python twin of the macro `combine_histories`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from delta_scd2.columns import all_equal, listed, quoted_column, require_columns
from delta_scd2.point_in_time import NO_GAP, Validity, mapped, shifted, timestamp_of

OPEN_END = datetime(9999, 12, 31, tzinfo=UTC)
REQUIRED = ("any", "all", "first")


@dataclass(frozen=True)
class History:
    """The versions of one dimension, for `combine_histories`.

    Attributes:
        versions: All versions of the dimension.
        columns: The columns to keep: their names, or a mapping to their names in the result.
        effective_from: As for `as_of`.
        effective_to: As for `as_of`; null or `open_end` mean open.
        open_end: What stands for an open end in the dimension, a datetime in UTC unless it has another zone.
        is_deleted: As for `as_of`.
        flag_values: As for `as_of`.
        closing_gap: As for `as_of`.
        hard_deletes: As for `as_of`.
    """

    versions: DataFrame
    columns: str | Sequence[str] | Mapping[str, str]
    effective_from: str = "effective_from"
    effective_to: str = "effective_to"
    open_end: datetime | None = OPEN_END
    is_deleted: str = "is_deleted"
    flag_values: Sequence[Any] = (True, False)
    closing_gap: timedelta = NO_GAP
    hard_deletes: str = "soft_delete"


def combine_histories(histories: Sequence[History], keys: str | Sequence[str], *, require: str = "any") -> DataFrame:
    """One history out of the histories of several dimensions with the same business key.

    The result has a row for every key and span of time in which no kept column changes, valid from
    its `effective_from` until before its `effective_to`; names and open end are those of the first
    dimension. At every time, it has the rows that `as_of` of each dimension has, joined by the key.

    Args:
        histories: Two or more dimensions. Their columns must be of types that Spark compares.
        keys: The whole business key, with the same names and types in each; a `DataFrame` does not tell.
        require: What a time in which a dimension has no version of the key means: `any` keeps the
            row, with nulls, if one dimension has a version; `all` keeps it only if each has one;
            `first` if the first has one.

    Raises:
        ValueError: There are fewer than two dimensions or no keys; a column is missing, or would be
            in the result twice; or an option has a wrong value.
    """
    if len(histories) < 2:
        raise ValueError("One history is no combination: give at least two.")
    if require not in REQUIRED:
        raise ValueError(f"`require` is `{require}`, expected any, all or first.")
    if not listed(keys):
        raise ValueError("A combination has no keys: name the columns of the business key.")
    names = [name for history in histories for name in mapped(history.columns).values()]
    first = histories[0]
    interval = [first.effective_from, first.effective_to]
    counted = Counter(name.lower() for name in [*listed(keys), *interval, *names])
    if repeated := [name for name, count in counted.items() if count > 1]:
        raise ValueError(
            f"The result would have more than one column {', '.join(repeated)}: "
            "give the `columns` of a history as a mapping to names in the result."
        )
    key = [quoted_column(name) for name in listed(keys)]
    sides = [_side(history, listed(keys)).alias(f"side_{number}") for number, history in enumerate(histories)]
    spans = _joined(_spans(sides, key), sides, listed(keys), require)
    open_end = timestamp_of(first.open_end) if first.open_end else F.lit(None).cast("timestamp")
    combined = spans.select(
        *key,
        quoted_column("_scd2_boundary").alias(first.effective_from),
        F.coalesce("_scd2_next_boundary", open_end).alias(first.effective_to),
        *map(quoted_column, names),
    )
    return _merged(combined, listed(keys), interval, names)


def _side(history: History, keys: Sequence[str]) -> DataFrame:
    """The versions of a side, each until the next or a deletion; null is an open end."""
    validity = Validity(
        history.effective_from,
        history.effective_to,
        history.is_deleted,
        history.flag_values,
        history.closing_gap,
        history.hard_deletes,
    )
    columns = mapped(history.columns)
    require_columns(history.versions, "history", [*keys, *columns, *validity.columns()])
    end = quoted_column(history.effective_to).cast("timestamp")
    closed_end = F.nullif(end, timestamp_of(history.open_end)) if history.open_end else end
    return history.versions.where(validity.is_no_tombstone()).select(
        *map(quoted_column, keys),
        quoted_column(history.effective_from).cast("timestamp").alias("_scd2_valid_from"),
        shifted(closed_end, history.closing_gap).alias("_scd2_valid_to"),
        *(quoted_column(column).alias(name) for column, name in columns.items()),
    )


def _spans(sides: Sequence[DataFrame], key: Sequence[Column]) -> DataFrame:
    """The spans of time between two boundaries of any side, by key."""
    boundaries = [
        side.select(*key, quoted_column(end).alias("_scd2_boundary")).where("_scd2_boundary is not null")
        for side in sides
        for end in ("_scd2_valid_from", "_scd2_valid_to")
    ]
    next_boundary = F.lead("_scd2_boundary").over(Window.partitionBy(*key).orderBy("_scd2_boundary"))
    return reduce(DataFrame.union, boundaries).distinct().withColumn("_scd2_next_boundary", next_boundary)


def _joined(spans: DataFrame, sides: Sequence[DataFrame], keys: Sequence[str], require: str) -> DataFrame:
    """What each side says of each span, the columns of the key from the spans alone."""
    joined = spans.alias("spans")
    for number, side in enumerate(sides):
        alias = f"side_{number}"
        sides_of_key = [[quoted_column(name, owner) for name in keys] for owner in ("spans", alias)]
        valid_from, valid_to = (quoted_column(name, alias) for name in ("_scd2_valid_from", "_scd2_valid_to"))
        boundary = quoted_column("_scd2_boundary", "spans")
        is_valid = (valid_from <= boundary) & ((valid_to > boundary) | valid_to.isNull())
        is_required = require == "all" or (require == "first" and number == 0)
        joined = joined.join(side, all_equal(sides_of_key) & is_valid, "inner" if is_required else "left")
    has_version = [quoted_column("_scd2_valid_from", f"side_{number}").isNotNull() for number in range(len(sides))]
    columns = [
        quoted_column(name, f"side_{number}")
        for number, side in enumerate(sides)
        for name in side.columns
        if name not in (*keys, "_scd2_valid_from", "_scd2_valid_to")
    ]
    return joined.where(reduce(Column.__or__, has_version)).select("spans.*", *columns)


def _merged(combined: DataFrame, keys: Sequence[str], interval: Sequence[str], names: Sequence[str]) -> DataFrame:
    """The spans without boundaries at which no column of the result changes."""
    effective_from, effective_to = map(quoted_column, interval)
    columns = [quoted_column(name) for name in names]
    history = Window.partitionBy(*map(quoted_column, keys)).orderBy(effective_from)
    before = [F.lag(column).over(history) for column in (effective_to, *columns)]
    continues = all_equal([before, [effective_from, *columns]])
    version = F.count_if(~quoted_column("_scd2_continues")).over(history)
    numbered = combined.withColumn("_scd2_continues", continues).withColumn("_scd2_version", version)
    grouped = numbered.groupBy(*map(quoted_column, keys), *columns, quoted_column("_scd2_version"))
    ends = grouped.agg(
        F.min(effective_from).alias(interval[0]), F.max_by(effective_to, effective_from).alias(interval[1])
    )
    return ends.select(*map(quoted_column, [*keys, *interval, *names]))
