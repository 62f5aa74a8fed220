"""The last change of every key."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from delta_scd2.changelog.kinds import UNAVAILABLE_VALUE, check_placeholder, in_merge, is_unavailable, kind_of
from delta_scd2.columns import all_equal, listed, quoted_column, require_columns
from delta_scd2.timestamps import JSON_TIMES


def latest_changes(
    changelog: DataFrame,
    keys: str | Sequence[str],
    *,
    change_type: str = "_change_type",
    change_ordinal: str = "_change_ordinal",
    unavailable_columns: str | Sequence[str] = (),
    unavailable_value: str = UNAVAILABLE_VALUE,
    table: DataFrame | None = None,
) -> DataFrame:
    """The last change of every key; if one ordinal removes and adds a row, the added one.

    If the last change of a key is the row before an update, the update changed the key, so it
    becomes a DELETE. With the ordinal `_commit_version`, the rows are those of Delta's change data
    feed and are counted: a key with a remaining row is not deleted, and a key with several
    different remaining rows keeps all of them, for which `apply_changelog` raises an error. For this,
    rows are compared whole: add a column that depends on the commit to the result.

    Args:
        changelog: Rows with a change type and an ordinal.
        keys: The columns that identify a row.
        change_type: The column with the change type.
        change_ordinal: The column that orders the changes.
        unavailable_columns: Columns that may contain a placeholder for an unchanged value; it is
            replaced by the value of an earlier change of the key.
        unavailable_value: The placeholder.
        table: The rows of the table whose feed the changelog is. A key that lost a row keeps the
            row that the table still has, which may have come before these changes. If others
            write the table, read it with `versionAsOf`, and end the changelog at that version:
            a change that only one of the two shows would be taken for another one.

    Raises:
        ValueError: There are no keys; a column is missing; the placeholder is empty; or the rows of a feed
            have a map with keys that cannot be told apart.
    """
    key = [quoted_column(name) for name in listed(keys)]
    if not key:
        raise ValueError("latest_changes has no keys: name at least one.")
    require_columns(changelog, "changelog", [*listed(keys), change_type, change_ordinal])
    if table is not None:
        require_columns(table, "table", listed(keys))
    if listed(unavailable_columns):
        check_placeholder(unavailable_value)
    word = quoted_column(change_type).cast("string")
    kind = kind_of(word)
    so_far = (
        Window.partitionBy(*key)
        .orderBy(quoted_column(change_ordinal), (kind == "before").desc(), (kind == "delete").desc())
        .rowsBetween(Window.unboundedPreceding, 0)
    )
    for name in listed(unavailable_columns):
        value = F.struct(quoted_column(name).alias("value"))
        is_lacking = is_unavailable(quoted_column(name), unavailable_value)
        earlier = F.last(F.when(~is_lacking & (kind != "delete"), value), ignorenulls=True).over(so_far)
        filled = F.coalesce(earlier, value).getField("value")
        changelog = changelog.withColumn(name, F.when(is_lacking, filled).otherwise(quoted_column(name)))
    last_first = [_known_ordinal(changelog, change_ordinal, kind).desc(), kind == "before", kind == "delete"]
    if change_ordinal.lower() == "_commit_version":
        # Spark writes these keys as places in memory.
        if re.search("map<(binary|array|struct|map)", changelog.schema.simpleString()):
            raise ValueError(
                "the changes have a map whose keys are bytes, arrays or structs, so that `latest_changes` cannot tell "
                "their rows apart. Nothing was written. "
                "Remedy: write the keys as texts, or leave the column out of the changes."
            )
        row = _text_of_row(changelog, [change_type, change_ordinal])
        ranked = _ranked_rows_of_feed(changelog.withColumn("_change_row", row), key, kind, last_first)
    else:
        ranked = changelog.withColumn("_change_rank", F.rank().over(Window.partitionBy(*key).orderBy(*last_first)))
    changes = (
        ranked.where("_change_rank = 1")
        .select(*map(quoted_column, changelog.columns))
        .withColumn(change_type, F.when(kind.eqNullSafe("before"), "DELETE").otherwise(word))
    )
    return changes if table is None else _with_rows_left(changes, table, listed(keys), change_type)


def _known_ordinal(changelog: DataFrame, name: str, kind: Column) -> Column:
    """The ordinal; a change without one would be lost among others, in silence.

    One of several fields is none if all of them are null, those of a field too: their text has no value
    after a colon.
    """
    ordinal = quoted_column(name)
    if name.lower() == "_commit_version":
        return ordinal
    problem = (
        f"a change has no `{name}`, by which `latest_changes` orders. Nothing was written. "
        "Remedy: give every change a value there."
    )
    has_none = ordinal.isNull()
    if isinstance(changelog.select(ordinal).schema[0].dataType, T.StructType):
        has_none |= ~F.to_json(F.struct(ordinal.alias("o")), {"ignoreNullFields": "true"}).rlike('":[^{]')
    return F.when(~kind.eqNullSafe("before") & has_none, F.raise_error(F.lit(problem))).otherwise(ordinal)


def _ranked_rows_of_feed(
    feed: DataFrame, key: Sequence[Column], kind: Column, last_first: Sequence[Column]
) -> DataFrame:
    """Count the remaining rows per key; within a version, removed rows are counted first.

    All different remaining rows of a key get rank 1; for a key without any, its last row does.
    """
    sign = F.when(kind == "upsert", 1).otherwise(-1)
    row, is_left = F.col("_change_row"), F.col("_change_left")
    same_row = Window.partitionBy(*key, row)
    so_far = same_row.orderBy("_commit_version", sign).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    same_key = Window.partitionBy(*key)
    last_version = F.max("_commit_version").over(same_key)
    among_left = Window.partitionBy(*key, F.when(is_left, row)).orderBy(*last_first)
    least = F.least(F.lit(0), F.min("_change_balance").over(same_row))
    return (
        feed.withColumn("_change_balance", F.sum(sign).over(so_far))
        .withColumn("_change_left", F.coalesce(kind == "upsert", F.lit(False)) & (F.sum(sign).over(same_row) > least))
        .withColumn("_change_any_left", F.max("_change_left").over(same_key))
        .withColumn("_change_rank", F.row_number().over(among_left))
        # What is left of a key is its state after its last change.
        .withColumn("_commit_version", F.when(is_left, last_version).otherwise(F.col("_commit_version")))
        .where("_change_left or not _change_any_left")
    )


def _with_rows_left(changes: DataFrame, table: DataFrame, keys: Sequence[str], change_type: str) -> DataFrame:
    """A deletion of a key of which the table still has a row brings that row."""
    stored = {name.lower(): in_merge(name) for name in table.columns}
    rows_left = table.select(*(quoted_column(name).alias(stored[name.lower()]) for name in table.columns))
    is_same_key = all_equal(
        [[quoted_column(key) for key in keys], [quoted_column(stored[key.lower()]) for key in keys]]
    )
    is_left = F.col("_change_is_left").isNotNull()
    joined = changes.join(
        rows_left.withColumn("_change_is_left", F.lit(True)),
        (kind_of(quoted_column(change_type)) == "delete") & is_same_key,
        "left",
    )

    def value(name: str) -> Column:
        if name.lower() == change_type.lower():
            return F.when(is_left, "UPDATE_AFTER").otherwise(quoted_column(name)).alias(name)
        if name.lower() not in stored:
            return quoted_column(name)
        return F.when(is_left, quoted_column(stored[name.lower()])).otherwise(quoted_column(name)).alias(name)

    return joined.select(*map(value, changes.columns))


def _text_of_row(feed: DataFrame, metadata: Sequence[str]) -> Column:
    """The text of a row, without the columns that describe its commit."""
    added = {"_commit_timestamp", *(name.lower() for name in metadata)}
    stored = F.struct(*(quoted_column(name) for name in feed.columns if name.lower() not in added))
    return F.to_json(stored, {"ignoreNullFields": "false", "timeZone": "UTC", **JSON_TIMES})
