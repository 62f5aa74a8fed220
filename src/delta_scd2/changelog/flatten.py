"""Events with the row before and after a change, as a changelog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from delta_scd2.columns import all_equal, listed, quoted_column


def flatten_changelog(
    events: DataFrame,
    *,
    op: str = "op",
    before: str = "before",
    after: str = "after",
    ordinal: str,
    keys: str | Sequence[str],
    columns: Mapping[str, str] | None = None,
) -> DataFrame:
    """Flatten events with the row before and after a change (Debezium's envelope) to a changelog.

    Tombstones are left out. An update that changes the key becomes a DELETE of the old key and an
    UPDATE_AFTER of the new one.

    Args:
        events: One row per event.
        op: A SQL expression for the operation: c, r, u or d.
        before: A SQL expression for the row before the change, a struct.
        after: A SQL expression for the row after the change, a struct.
        ordinal: A SQL expression that orders the events of a key, such as a log position; a
            timestamp in milliseconds is not unique enough.
        keys: The fields that identify a row; none if no update ever changes them.
        columns: Additional columns, as a mapping of name to SQL expression over the events.
    """
    further = columns or {}
    is_told = F.expr(op).isNotNull() | F.expr(before).isNotNull() | F.expr(after).isNotNull()
    told = events.where(is_told).select(
        F.expr(op).cast("string").alias("_change_op"),
        F.array(F.expr(before), F.expr(after)).alias("_change_images"),
        *(F.expr(expression).alias(name) for name, expression in further.items()),
        F.expr(ordinal).alias("_change_ordinal"),
    )
    code, images = F.lower("_change_op"), F.col("_change_images")
    row = F.when(code == "d", images[0]).when(code.isin("c", "r", "u"), images[1])
    name = F.when(code == "u", "UPDATE_AFTER").when(code == "d", "DELETE").otherwise("INSERT")
    rows = F.array(_change(F.coalesce(row, F.raise_error(_no_row_to_apply())), name))
    key_names = listed(keys)
    if key_names:
        is_same_key = all_equal([image.getField(key) for key in key_names] for image in (images[0], images[1]))
        is_moved = (code == "u") & images[0].isNotNull() & images[1].isNotNull() & ~is_same_key
        moved = F.array(_change(images[0], F.lit("DELETE")), _change(images[1], F.lit("UPDATE_AFTER")))
        rows = F.when(is_moved, moved).otherwise(rows)
    flat = told.select(F.inline(rows), *map(quoted_column, further), "_change_ordinal")
    return flat.select("_change_image.*", *map(quoted_column, further), "_change_type", "_change_ordinal")


def _change(image: Column, kind: Column) -> Column:
    return F.struct(image.alias("_change_image"), kind.alias("_change_type"))


def _no_row_to_apply() -> Column:
    return F.concat(
        F.lit("a changelog event of type "),
        F.coalesce("_change_op", F.lit("null")),
        F.lit(" has no row to apply; its ordinal is "),
        F.coalesce(F.col("_change_ordinal").cast("string"), F.lit("null")),
        F.lit(
            ". Nothing was written. Remedy: let the source send the row (of a deletion the row before, in PostgreSQL "
            "by `replica identity`), or filter such events; after a truncation, empty the copy and go on with the "
            "events after it."
        ),
    )
