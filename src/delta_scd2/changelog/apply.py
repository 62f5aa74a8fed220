"""Applies a changelog to a copy of the current state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from delta_scd2.changelog.checks import (
    check_change_type,
    check_copy,
    check_memory,
    check_partitions,
    check_types,
)
from delta_scd2.changelog.feed import check_session
from delta_scd2.changelog.kinds import UNAVAILABLE_VALUE, check_placeholder, in_merge, is_unavailable, kind_of
from delta_scd2.columns import all_equal, incomparable_columns, key_texts, listed, quoted, quoted_column, repeated_keys
from delta_scd2.constraints import checkpoint
from delta_scd2.hashing import comparable


def apply_changelog(
    spark: SparkSession,
    target: str,
    changelog: DataFrame,
    keys: str | Sequence[str],
    *,
    change_type: str = "_change_type",
    change_ordinal: str = "_change_ordinal",
    unavailable_columns: str | Sequence[str] = (),
    unavailable_value: str = UNAVAILABLE_VALUE,
) -> dict[str, int]:
    """Apply a changelog to a copy of the current state, in one MERGE.

    Applying the same changelog again changes and commits nothing.

    Args:
        spark: The session.
        target: The name of the Delta table with the copy.
        changelog: The columns of the copy, a change type and an ordinal; one change per key.
        keys: The columns that identify a row.
        change_type: The column with the change type.
        change_ordinal: The column that orders the changes; it is not stored in the copy.
        unavailable_columns: Columns that may contain a placeholder for an unchanged value; the copy
            keeps its own value.
        unavailable_value: The placeholder.

    Returns:
        The numbers of rows `inserted`, `updated` and `deleted`.

    Raises:
        ValueError: The changelog has no change type, or an unknown one, several changes for a key, other
            columns than the target, a placeholder for a value missing in the target, or an empty
            text in a column by which the target is partitioned; or the target has several rows for
            a key, or remembers ordinals. Nothing was written.
    """
    check_session(spark)
    key_names = listed(keys)
    metadata = [change_type.lower(), change_ordinal.lower()]
    kept = [field for field in changelog.schema if field.name.lower() not in metadata]
    check_change_type(changelog, change_type)
    check_copy(target, spark.table(target).schema, kept, key_names)
    columns = {quoted(field.name): quoted_column(in_merge(field.name)) for field in kept}
    others = [field for field in kept if field.name.lower() not in map(str.lower, key_names)]
    is_same_key = all_equal([quoted_column(name(key)) for key in key_names] for name in (str, in_merge))
    is_equal = all_equal([comparable(field, name(field.name)) for field in others] for name in (str, in_merge))
    # Evaluated once: Spark would evaluate cached rows again once their table gets others.
    changes = checkpoint(_changes_to_apply(changelog, key_names, change_type, change_ordinal))
    check_types(changes, change_type)
    detail = spark.sql(f"describe detail {target}").collect()[0]
    check_partitions(spark, target, detail.partitionColumns, changes, kept, key_names)
    distinct = _distinct_changes(changes.where("_change_kind <> 'before'"), kept, key_names, change_ordinal)
    source = distinct.select(
        # Delta's MERGE fails on the char length that a column inherits from its table.
        *(quoted_column(field.name).alias(in_merge(field.name), metadata={}) for field in kept),
        "_change_kind",
    )
    large = _named_fields(others, unavailable_columns)
    if large:
        check_placeholder(unavailable_value)
        source = _with_values_of_copy(spark.table(target), source, is_same_key, large, unavailable_value)
        _check_values(source.where("_change_is_lacking"), target, key_names, unavailable_value)
        source = source.drop("_change_is_lacking")
    effects = _effects(spark.table(target), source, is_same_key, is_equal, target, key_names)
    check_memory(target, detail.properties)
    if any(effects.values()):
        kind = F.col("_change_kind")
        merge = source.mergeInto(target, is_same_key).whenMatched(kind == "delete").delete()
        merge = merge.whenMatched(~is_equal).update(columns)
        merge.whenNotMatched(kind == "upsert").insert(columns).merge()
    return effects


def _changes_to_apply(changelog: DataFrame, keys: Sequence[str], change_type: str, change_ordinal: str) -> DataFrame:
    """The changes with their kind; the row before an update that changed its key is a deletion."""
    kind = F.col("_change_kind")
    by_key = Window.partitionBy(*map(quoted_column, keys))
    is_other = ~kind.eqNullSafe("before")
    by_name = {field.name.lower(): field for field in changelog.schema}
    # Without an ordinal, the version tells which rows of Delta's feed belong together.
    order = by_name.get(change_ordinal.lower()) or by_name.get("_commit_version")
    # Spark orders neither maps nor variants. A null in a struct is one more value.
    if order and ("map<" in order.dataType.simpleString() or incomparable_columns([order])):
        order = None
    ordinal = F.struct(quoted_column(order.name) if order else F.lit(1))
    is_followed = F.coalesce(F.max(F.when(is_other, ordinal)).over(by_key) >= ordinal, F.lit(False))
    changes = changelog.withColumn("_change_kind", kind_of(quoted_column(change_type)))
    return changes.withColumn("_change_kind", F.when((kind == "before") & ~is_followed, "delete").otherwise(kind))


def _distinct_changes(
    changes: DataFrame, kept: Sequence[T.StructField], keys: Sequence[str], change_ordinal: str
) -> DataFrame:
    """Remove repeated identical changes of a key; raise ValueError for different ones."""
    if not repeated_keys(changes, keys):
        return changes
    ordinals = [field for field in changes.schema if field.name.lower() == change_ordinal.lower()]
    ordinal = comparable(ordinals[0]) if ordinals else F.lit(None)
    # A deletion is the same whatever its row.
    row = F.when(F.col("_change_kind") == "upsert", F.struct(*map(comparable, kept)))
    last = F.max(ordinal).over(Window.partitionBy(*map(quoted_column, keys)))
    counted = (
        changes.withColumn("_change_state", F.struct(ordinal, row))
        .withColumn("_change_last", F.when(ordinal.eqNullSafe(last), row))
        .groupBy(*map(quoted, keys))
        .agg(
            F.countDistinct("_change_state").alias("_change_states"),
            F.countDistinct("_change_last").alias("_change_last_rows"),
            F.count_if(ordinal.isNull()).alias("_change_unplaced"),
        )
        .where("_change_states > 1")
    )
    conflicts = key_texts(counted, keys)
    if not conflicts:
        return changes.dropDuplicates(list(keys))
    is_ordered = bool(ordinals) and not key_texts(counted.where("_change_last_rows > 1 or _change_unplaced > 0"), keys)
    remedy = (
        "keep the last change of each key with `latest_changes`"
        if is_ordered
        else f"let `{change_ordinal}` tell which change of a key comes last, if need be by a struct of several "
        "columns, and keep that one with `latest_changes`; or keep one yourself"
    )
    raise ValueError(
        f"duplicate keys detected in changelog dataframe for identifier columns {list(keys)}: {'; '.join(conflicts)}.\n"
        f"Nothing was written. Remedy: {remedy}."
    )


def _effects(
    rows: DataFrame, source: DataFrame, is_same_key: Column, is_equal: Column, target: str, keys: Sequence[str]
) -> dict[str, int]:
    known = rows.withColumn("_change_is_known", F.lit(True))
    kind, is_known = F.col("_change_kind"), F.col("_change_is_known").isNotNull()
    matches = source.join(known, is_same_key, "left").select(
        *(quoted_column(in_merge(key)).alias(key) for key in keys),
        ((kind == "upsert") & ~is_known).alias("_change_inserted"),
        ((kind == "upsert") & is_known & ~is_equal).alias("_change_updated"),
        ((kind == "delete") & is_known).alias("_change_deleted"),
    )
    effects = ("inserted", "updated", "deleted")
    found = matches.agg(
        F.count(F.lit(1)).alias("rows"),
        F.countDistinct(F.struct(*map(quoted_column, keys))).alias("keys"),
        *(F.count_if(f"_change_{effect}").alias(effect) for effect in effects),
    ).first()
    if found["rows"] > found["keys"]:
        raise ValueError(
            f"multiple rows in destination table match key {list(keys)}: {'; '.join(repeated_keys(matches, keys))}.\n"
            f"Nothing was written. Remedy: delete the surplus rows of {target}, or add a column to the key."
        )
    return {effect: int(found[effect]) for effect in effects}


def _named_fields(fields: Sequence[T.StructField], names: str | Sequence[str]) -> list[str]:
    by_name = {field.name.lower(): field.name for field in fields}
    unknown = [name for name in listed(names) if name.lower() not in by_name]
    if unknown:
        raise ValueError(
            f"`unavailable_columns` names {', '.join(unknown)}, part of the key or no column of the changelog: "
            "name others."
        )
    return [by_name[name.lower()] for name in listed(names)]


def _with_values_of_copy(
    rows: DataFrame, source: DataFrame, is_same_key: Column, names: Sequence[str], placeholder: str
) -> DataFrame:
    """Replace placeholders with the values of the copy, and flag the rows without such a value."""
    stored = rows.withColumn("_change_is_known", F.lit(True))
    joined = source.join(stored, is_same_key, "left")
    lacks = {name: is_unavailable(quoted_column(in_merge(name)), placeholder) for name in names}
    values = {
        in_merge(name): F.when(lacks[name], quoted_column(name)).otherwise(quoted_column(in_merge(name)))
        for name in names
    }
    kept = [values[name].alias(name) if name in values else quoted_column(name) for name in source.columns]
    is_new = F.col("_change_is_known").isNull() & (F.col("_change_kind") == "upsert")
    return joined.select(*kept, (is_new & reduce(Column.__or__, lacks.values())).alias("_change_is_lacking"))


def _check_values(lacking: DataFrame, target: str, keys: Sequence[str], placeholder: str) -> None:
    found = key_texts(lacking.select(*(quoted_column(in_merge(key)).alias(key) for key in keys)), keys)
    if found:
        raise ValueError(
            f"The changelog holds `{placeholder}` in place of values that {target} does not have: {'; '.join(found)}.\n"
            "Nothing was written. Remedy: let the source send these rows whole, as a snapshot does, or put another "
            "value in its place."
        )
