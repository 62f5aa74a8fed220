"""The Python twins of the macros in macros/changelog."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import reduce
from itertools import chain

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from delta_scd2.hashing import _listed, _text
from delta_scd2.timestamps import EPOCH, JSON_TIMES, utc_timestamp

KINDS = {
    "upsert": ["insert", "update", "upsert", "update_after", "update_postimage", "i", "u", "c", "r"],
    "delete": ["delete", "d"],
    "before": ["update_before", "update_preimage"],
}

# Debezium's placeholder for a large value that an update did not change.
UNAVAILABLE_VALUE = "__debezium_unavailable_value"

# Texts for which Delta stores null in a partition column.
NULL_PARTITIONS = ("", "__HIVE_DEFAULT_PARTITION__")

# Names of the time zone in which no hour comes twice.
UTC_ZONES = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")

# Settings that make Spark and Delta silently skip what they cannot read.
SILENCED = [
    "spark.sql.files.ignoreMissingFiles",
    "spark.sql.files.ignoreCorruptFiles",
    "spark.files.ignoreMissingFiles",
    "spark.files.ignoreCorruptFiles",
    "spark.sql.hive.verifyPartitionPath",
    "spark.sql.files.ignoreInvalidPartitionPaths",
    "spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled",
]


def changelog(
    spark: SparkSession,
    table: str,
    keys: str | Sequence[str] | None = None,
    *,
    from_version: int | None = None,
    to_version: int | None = None,
    from_timestamp: str | date | None = None,
    to_timestamp: str | date | None = None,
) -> DataFrame:
    """The net changes between two versions of a Delta table, from its change data feed.

    Returns the columns of the table with `_change_type` and `_change_ordinal`, the version of the
    change. With keys, each changed key has one row, INSERT or DELETE, or a pair of UPDATE_BEFORE
    and UPDATE_AFTER. Without keys, every added row is an INSERT and every removed row a DELETE.
    Changes undone within the range are left out.

    Args:
        spark: The session.
        table: The name of the table.
        keys: The columns that identify a row; by default none, for net changes of rows.
        from_version: The range starts after this version; by default it starts with the table.
        to_version: The last version of the range; by default the newest.
        from_timestamp: Instead of `from_version`, a time when it was the newest; UTC by default.
        to_timestamp: Instead of `to_version`, a time when it was the newest; UTC by default.

    Raises:
        ValueError: The range is not valid for the table; its changes were not recorded or are no
            longer retained; the columns changed within the range; a key has two rows in one
            version; or the session is set to skip what it cannot read.
    """
    _check_session(spark)
    key_names = _listed(keys or [])
    rows = spark.table(table)
    _check_columns(table, rows.schema, key_names)
    first, last = _range(spark, table, from_version, to_version, from_timestamp, to_timestamp)
    start = min(first, last)
    feed = _feed_query(spark, table, start, last)
    _check_feed(spark, table, feed, start, last)
    if first > last:
        nothing = {"_change_type": F.lit(""), "_change_ordinal": _of_range(F.lit(0).cast("bigint"), last)}
        return rows.where("false").withColumns(nothing)
    changes = _with_later_columns(spark.sql(feed), rows.schema, table, start, last).select(
        *map(_column, rows.columns),
        _of_range(F.col("_commit_version"), last),
        F.when(F.col("_change_type").isin("insert", "update_postimage"), 1).otherwise(-1).alias("_change_count"),
    )
    try:
        # Read the feed once to check it: VACUUM may have removed files without an entry in the log,
        # and a key must not have two rows.
        if not key_names:
            changes.count()
            duplicates = []
        else:
            duplicates = _duplicate_keys(changes, spark.read.option("versionAsOf", last).table(table), key_names)
    except (PySparkException, Py4JJavaError) as error:
        if "[FAILED_READ_FILE" not in str(error):
            raise
        raise _expired(table, f"files of versions {first} to {last} are gone") from None
    if duplicates:
        raise ValueError(
            f"Duplicate rows found for identifier columns {key_names} in changelog view: {'; '.join(duplicates)}.\n"
            f"Remedy: name the columns that identify a row of {table}, or leave `keys` out to get its net changes."
        )
    return _net_changes(changes, rows.schema, key_names)


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
            row that the table still has, which may have come before these changes.
    """
    key = [_column(name) for name in _listed(keys)]
    word = _column(change_type).cast("string")
    kind = _kind(word)
    so_far = (
        Window.partitionBy(*key)
        .orderBy(_column(change_ordinal), (kind == "before").desc(), (kind == "delete").desc())
        .rowsBetween(Window.unboundedPreceding, 0)
    )
    for name in _listed(unavailable_columns):
        value = F.struct(_column(name).alias("value"))
        is_unavailable = F.coalesce(_is_unavailable(_column(name), unavailable_value), F.lit(False))
        earlier = F.last(F.when(~is_unavailable & (kind != "delete"), value), ignorenulls=True).over(so_far)
        filled = F.coalesce(earlier, value).getField("value")
        changelog = changelog.withColumn(name, F.when(is_unavailable, filled).otherwise(_column(name)))
    last_first = [_known_ordinal(change_ordinal, kind).desc(), kind == "before", kind == "delete"]
    if change_ordinal.lower() == "_commit_version":
        row = _text_of_row(changelog, [change_type, change_ordinal])
        ranked = _ranked_rows_of_feed(changelog.withColumn("_change_row", row), key, kind, last_first)
    else:
        ranked = changelog.withColumn("_change_rank", F.rank().over(Window.partitionBy(*key).orderBy(*last_first)))
    changes = (
        ranked.where("_change_rank = 1")
        .select(*map(_column, changelog.columns))
        .withColumn(change_type, F.when(kind.eqNullSafe("before"), "DELETE").otherwise(word))
    )
    return changes if table is None else _with_rows_left(changes, table, _listed(keys), change_type)


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
    key_names = _listed(keys)
    if key_names:
        is_same_key = _all_equal([image.getField(key) for key in key_names] for image in (images[0], images[1]))
        is_moved = (code == "u") & images[0].isNotNull() & images[1].isNotNull() & ~is_same_key
        moved = F.array(_change(images[0], F.lit("DELETE")), _change(images[1], F.lit("UPDATE_AFTER")))
        rows = F.when(is_moved, moved).otherwise(rows)
    flat = told.select(F.inline(rows), *map(_column, further), "_change_ordinal")
    return flat.select("_change_image.*", *map(_column, further), "_change_type", "_change_ordinal")


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
        ValueError: The changelog has an unknown change type, several changes for a key, other
            columns than the target, a placeholder for a value missing in the target, or an empty
            text in a column by which the target is partitioned; or the target has several rows for
            a key. Nothing was written.
    """
    _check_session(spark)
    key_names = _listed(keys)
    metadata = [change_type.lower(), change_ordinal.lower()]
    kept = [field for field in changelog.schema if field.name.lower() not in metadata]
    _check_copy(target, spark.table(target).schema, kept, key_names)
    columns = {_quoted(field.name): _column(_in_merge(field.name)) for field in kept}
    others = [field for field in kept if field.name.lower() not in map(str.lower, key_names)]
    is_same_key = _all_equal([_column(name(key)) for key in key_names] for name in (str, _in_merge))
    is_equal = _all_equal([_comparable(field, name(field.name)) for field in others] for name in (str, _in_merge))
    changes = _evaluated(spark, _changes_to_apply(changelog, key_names, change_type, change_ordinal))
    _check_types(changes, change_type)
    _check_partitions(spark, target, changes, kept, key_names)
    distinct = _distinct_changes(changes.where("_change_kind <> 'before'"), kept, key_names, change_ordinal)
    source = distinct.select(
        # Delta's MERGE fails on the char length that a column inherits from its table.
        *(_column(field.name).alias(_in_merge(field.name), metadata={}) for field in kept),
        "_change_kind",
    )
    large = _named_fields(others, unavailable_columns)
    if large:
        source = _with_values_of_copy(spark.table(target), source, is_same_key, large, unavailable_value)
        _check_values(source.where("_change_is_lacking"), target, key_names, unavailable_value)
        source = source.drop("_change_is_lacking")
    effects = _effects(spark.table(target), source, is_same_key, is_equal, target, key_names)
    if any(effects.values()):
        kind = F.col("_change_kind")
        merge = source.mergeInto(target, is_same_key).whenMatched(kind == "delete").delete()
        merge = merge.whenMatched(~is_equal).update(columns)
        merge.whenNotMatched(kind == "upsert").insert(columns).merge()
    return effects


def _evaluated(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The rows, evaluated once: Spark would evaluate cached rows again once their table gets others.

    A checkpoint keeps the constraints that Spark inferred, and Spark rewrites them for each later alias of a
    column: with the hash of forty columns among them, until its memory is full.
    """
    name = "spark.sql.constraintPropagation.enabled"
    before = spark.conf.get(name, "true")
    spark.conf.set(name, "false")
    try:
        return frame.localCheckpoint()
    finally:
        spark.conf.set(name, before)


# -- the feed


def _check_session(spark: SparkSession) -> None:
    for name in SILENCED:
        if spark.conf.get(name, "false").lower() == "true":
            raise ValueError(
                f"The session leaves out what it cannot read, without an error.\nRemedy: set `{name}` to `false`."
            )


def _feed_query(spark: SparkSession, table: str, first: int, last: int) -> str:
    """By path: if a plan reads two ranges by table name, Delta 4.4 reads the first range twice."""
    path = spark.sql(f"describe detail {table}").head().location.replace("\\", "\\\\").replace("'", "\\'")
    return f"select * from table_changes_by_path('{path}', {first}, {last})"  # noqa: S608  # escaped above


def _check_columns(table: str, schema: T.StructType, keys: Sequence[str]) -> None:
    names = [name.lower() for name in schema.names]
    for key in keys:
        if key.lower() not in names:
            raise ValueError(f"The changelog of {table} has the key `{key}`, which is not a column of the table.")
    for column in _maps_of_key(schema, keys):
        raise ValueError(
            f"The changelog of {table} has the key {column}, and maps cannot be compared.\nRemedy: name other columns."
        )
    for name in names:
        if _is_ours(name):
            raise ValueError(
                f"{table} has a column `{name}`; names that begin with `_change_` are reserved for the changelog.\n"
                "Remedy: rename the column."
            )
    for column in _incomparable(schema):
        raise ValueError(f"{table} has the column {column}.\nRemedy: keep it in the table as a string.")


def _range(
    spark: SparkSession,
    table: str,
    from_version: int | None,
    to_version: int | None,
    from_timestamp: str | date | None,
    to_timestamp: str | date | None,
) -> tuple[int, int]:
    """The first and last version to read; the range starts after its start version."""
    which = f"The changelog of {table}"
    if None not in (from_version, from_timestamp) or None not in (to_version, to_timestamp):
        raise ValueError(f"{which} begins or ends with both a version and a timestamp: leave one of them out.")
    by_time = from_timestamp is not None or to_timestamp is not None
    history = (
        spark.sql(f"describe history {table}{'' if by_time else ' limit 1'}")
        # Spark Connect returns both moments of an hour that comes twice as the first one.
        .select("version", F.unix_micros("timestamp").alias("micros"))
        .collect()
    )
    newest: int = history[0].version
    start = _version_at(table, history, from_timestamp) if from_timestamp is not None else from_version
    end = _version_at(table, history, to_timestamp) if to_timestamp is not None else to_version
    start = -1 if start is None else start
    end = newest if end is None else end
    for version in (from_version, to_version):
        if version is not None and version < 0:
            raise ValueError(f"{which} is asked for version {version}: give a whole number from 0.")
    if end < 0:
        raise ValueError(f"{which} would end at {to_timestamp}, before the table existed: choose a later end.")
    if max(start, end) > newest:
        raise ValueError(f"{which} is asked for version {max(start, end)}, but the newest is {newest}.")
    if start > end:
        raise ValueError(f"{which} would start from version {start}, after its end {end}: swap the two.")
    return start + 1, end


def _version_at(table: str, history: Sequence[Row], timestamp: str | date) -> int:
    """The newest version of a table at a time; -1 before its first version."""
    try:
        at = (utc_timestamp(timestamp) - EPOCH) // timedelta(microseconds=1)
    except ValueError as error:
        raise ValueError(
            f"The changelog of {table} is asked for the time `{timestamp}`.\n"
            "Remedy: write it like `2024-03-31 02:30:00`."
        ) from error
    for row in history:
        if row.micros <= at:
            return int(row.version)
    if history[-1].version > 0:
        raise _expired(table, f"the versions of {timestamp} are no longer in its log")
    return -1


def _check_feed(spark: SparkSession, table: str, feed: str, first: int, last: int) -> None:
    """Check whether the feed can be read; `explain` returns a planning error as text."""
    plan = "\n".join(row[0] for row in spark.sql(f"explain {feed}").collect())
    error = re.match(r"Error occurred during query planning: *\n(?:\[([A-Z_.]+)\] )?(.*)", plan)
    if error is None:
        return
    condition, message = error.groups()
    if condition == "DELTA_MISSING_CHANGE_DATA":
        off = re.search(r"version \[(\d+)\]", plan)
        raise ValueError(
            f"{table} did not record its changes at version {off[1] if off else first}: its change data feed was off.\n"
            f"Remedy: switch it on with `alter table {table} set tblproperties (delta.enableChangeDataFeed = true)`, "
            f"and {_how_to_go_on('a version since then')}."
        )
    if condition in ("DELTA_LOG_FILE_NOT_FOUND", "DELTA_TRUNCATED_TRANSACTION_LOG"):
        raise _expired(table, f"versions from {first} on are no longer in its log")
    if condition and condition.startswith("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE"):
        raise _other_columns(table, first, last)
    raise ValueError(f"The changes of {table} cannot be read: {message}")


def _with_later_columns(feed: DataFrame, schema: T.StructType, table: str, first: int, last: int) -> DataFrame:
    """The feed of a table with column mapping has the columns of its last version; later ones are null in others."""
    names = {name.lower() for name in schema.names}
    found = {name.lower() for name in feed.columns}
    if found - names - {"_change_type", "_commit_version", "_commit_timestamp"}:
        raise _other_columns(table, first, last)
    later = {field.name: F.lit(None).cast(field.dataType) for field in schema if field.name.lower() not in found}
    # Over Spark Connect, `withColumns` with no columns raises an error.
    return feed.withColumns(later) if later else feed


def _other_columns(table: str, first: int, last: int) -> ValueError:
    return ValueError(
        f"The columns of {table} were renamed, dropped or retyped since version {first}, so its changes up to "
        f"version {last} cannot be read as one.\n"
        f"Remedy: {_how_to_go_on('a version after that change')}."
    )


def _how_to_go_on(version: str) -> str:
    return f"replace the rows of the copy with those of the table as of {version}, and go on from it"


def _expired(table: str, problem: str) -> ValueError:
    return ValueError(
        f"The changes of {table} are no longer retained: {problem}.\n"
        f"Remedy: {_how_to_go_on('a version that is retained')}; to keep changes longer, raise "
        "`delta.logRetentionDuration` and `delta.deletedFileRetentionDuration` of the table."
    )


def _duplicate_keys(changes: DataFrame, later: DataFrame, keys: Sequence[str]) -> list[str]:
    """Up to ten keys with several rows in a version of the range or in its start version."""
    columns = [_quoted(key) for key in keys]
    same_key = _all_equal([F.col(f"{side}.{key}") for key in columns] for side in ("later", "changes"))
    start = F.lit(-1).cast("bigint").alias("_change_ordinal")
    # The rows at the start are the rows at the end minus the changes.
    at_end = later.alias("later").join(changes.alias("changes"), same_key, "leftsemi")
    steps = (
        changes.select(*columns, "_change_ordinal", "_change_count")
        .unionAll(changes.select(*columns, start, -F.col("_change_count")))
        .unionAll(at_end.select(*columns, start, F.lit(1)))
    )
    per_version = steps.groupBy(*columns, "_change_ordinal").agg(F.sum("_change_count").alias("_change_count"))
    by_key = Window.partitionBy(*columns).orderBy("_change_ordinal")
    counted = per_version.withColumn("_change_rows", F.sum("_change_count").over(by_key))
    return _key_texts(counted.where("_change_rows > 1"), keys)


def _of_range(ordinal: Column, version: int) -> Column:
    """The ordinal of net changes; its comment distinguishes them from events."""
    return ordinal.alias("_change_ordinal", metadata={"comment": f"net changes up to version {version}"})


def _net_changes(changes: DataFrame, schema: T.StructType, keys: Sequence[str]) -> DataFrame:
    columns = [_quoted(field.name) for field in schema]
    by_row = Window.partitionBy(*map(_comparable, schema)).orderBy("_change_ordinal")
    rest = by_row.rowsBetween(Window.currentRow, Window.unboundedFollowing)
    balance, kept, count = F.col("_change_balance"), F.col("_change_kept"), F.col("_change_count")
    net = (
        # A row that a version rewrote unchanged counts as 0.
        changes.groupBy(*columns, "_change_ordinal")
        .agg(F.sum("_change_count").alias("_change_count"))
        .withColumn("_change_balance", F.sum("_change_count").over(by_row))
        # The part of the balance that no later version undoes.
        .withColumn(
            "_change_kept",
            F.greatest(F.lit(0), F.min(balance).over(rest)) + F.least(F.lit(0), F.max(balance).over(rest)),
        )
        .withColumn("_change_count", kept - F.lag(kept, 1, 0).over(by_row))
        .where("_change_count <> 0")
    )
    kind = F.when(count > 0, "INSERT").otherwise("DELETE")
    if keys:
        is_pair = F.count(F.lit(1)).over(Window.partitionBy(*map(_column, keys))) > 1
        kind = F.when(is_pair, F.when(count > 0, "UPDATE_AFTER").otherwise("UPDATE_BEFORE")).otherwise(kind)
    else:
        net = net.withColumn("_change_copy", F.explode(F.array_repeat(F.lit(True), F.abs(count).cast("int"))))
    return net.select(*columns, kind.alias("_change_type"), "_change_ordinal")


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
    stored = {name.lower(): _in_merge(name) for name in table.columns}
    rows_left = table.select(*(_column(name).alias(stored[name.lower()]) for name in table.columns))
    is_same_key = _all_equal([[_column(key) for key in keys], [_column(stored[key.lower()]) for key in keys]])
    is_left = F.col("_change_is_left").isNotNull()
    joined = changes.join(
        rows_left.withColumn("_change_is_left", F.lit(True)),
        (_kind(_column(change_type)) == "delete") & is_same_key,
        "left",
    )

    def value(name: str) -> Column:
        if name.lower() == change_type.lower():
            return F.when(is_left, "UPDATE_AFTER").otherwise(_column(name)).alias(name)
        if name.lower() not in stored:
            return _column(name)
        return F.when(is_left, _column(stored[name.lower()])).otherwise(_column(name)).alias(name)

    return joined.select(*map(value, changes.columns))


def _text_of_row(feed: DataFrame, metadata: Sequence[str]) -> Column:
    """The text of a row, for all types, without the columns that describe its commit."""
    added = {"_commit_timestamp", *(name.lower() for name in metadata)}
    stored = F.struct(*(_column(name) for name in feed.columns if name.lower() not in added))
    return F.to_json(stored, {"ignoreNullFields": "false", "timeZone": "UTC", **JSON_TIMES})


# -- events


def _change(image: Column, kind: Column) -> Column:
    return F.struct(image.alias("_change_image"), kind.alias("_change_type"))


def _known_ordinal(name: str, kind: Column) -> Column:
    """The ordinal; a change without one would be lost among others, in silence."""
    ordinal = _column(name)
    if name.lower() == "_commit_version":
        return ordinal
    problem = (
        f"a change has no `{name}`, by which `latest_changes` orders. Nothing was written. "
        "Remedy: give every change a value there."
    )
    known = F.coalesce(ordinal, F.raise_error(F.lit(problem)))
    return F.when(kind.eqNullSafe("before"), ordinal).otherwise(known)


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


# -- the copy


def _changes_to_apply(changelog: DataFrame, keys: Sequence[str], change_type: str, change_ordinal: str) -> DataFrame:
    """The changes with their kind; the row before an update that changed its key is a deletion."""
    kind = F.col("_change_kind")
    by_key = Window.partitionBy(*map(_column, keys))
    is_other = ~kind.eqNullSafe("before")
    # Spark orders neither maps nor variants. A null in a struct is one more value.
    orders = [
        _column(field.name)
        for field in changelog.schema
        if field.name.lower() == change_ordinal.lower() and not re.search("map<|variant", field.dataType.simpleString())
    ]
    ordinal = F.struct(orders[0] if orders else F.lit(1))
    is_followed = F.coalesce(F.max(F.when(is_other, ordinal)).over(by_key) >= ordinal, F.lit(False))
    changes = changelog.withColumn("_change_kind", _kind(_column(change_type)))
    return changes.withColumn("_change_kind", F.when((kind == "before") & ~is_followed, "delete").otherwise(kind))


def _check_copy(target: str, target_schema: T.StructType, kept: Sequence[T.StructField], keys: Sequence[str]) -> None:
    ours = {field.name.lower(): field.dataType for field in target_schema}
    theirs = {field.name.lower(): field.dataType for field in kept}
    mistakes = [f"the key `{key}` is not a column of the changelog" for key in keys if key.lower() not in theirs]
    mistakes += [f"the changelog has the column {column}: cast it to string" for column in _incomparable(kept)]
    mistakes += [
        f"the column {column} stands in the key, and maps cannot be compared: name other columns"
        for column in _maps_of_key(kept, keys)
    ]
    reserved = filter(_is_ours, theirs)
    mistakes += [f"the column `{name}` has a reserved name (`_change_…`): rename it" for name in reserved]
    for name, data_type in theirs.items():
        if name not in ours:
            column = f"{_quoted(name)} {_shown(data_type.simpleString(), 500)}"
            mistakes.append(
                f"the changelog has the column `{name}`, which {target} lacks: "
                f"add it with `alter table {target} add columns ({column})`"
            )
        elif ours[name].simpleString() != data_type.simpleString():
            mistakes.append(_wrong_type(name, data_type, ours[name], target))
    mistakes += [
        f"{target} holds the column `{name}`, which the changelog lacks" for name in ours if name not in theirs
    ]
    if mistakes or not keys:
        raise ValueError("\n".join(mistakes) or "apply_changelog has no keys: name at least one.")


def _wrong_type(name: str, data_type: T.DataType, target_type: T.DataType, target: str) -> str:
    here, there = data_type.simpleString(), target_type.simpleString()
    if "struct<" not in here or "struct<" not in there:
        return f"the column `{name}` is {_shown(here)} in the changelog and {_shown(there)} in {target}: cast it"
    found = _differences(name, data_type, target_type)
    shown = found[:5] + ([f"and {len(found) - 5} more"] if len(found) > 5 else [])
    return f"the column `{name}` has other fields in the changelog than in {target}, {'; '.join(shown)}: cast it"


def _differences(path: str, ours: T.DataType, theirs: T.DataType) -> list[str]:
    """Messages for the differences between two types, field by field."""
    if isinstance(ours, T.StructType) and isinstance(theirs, T.StructType):
        shared = [name for name in ours.names if name in theirs.names]
        within = [_differences(f"{path}.{name}", ours[name].dataType, theirs[name].dataType) for name in shared]
        found = list(chain.from_iterable(within))
        found += [f"`{path}.{name}` is new" for name in ours.names if name not in shared]
        found += [f"`{path}.{name}` is missing" for name in theirs.names if name not in shared]
        return found or ([] if ours.names == theirs.names else [f"`{path}` has its fields in another order"])
    if isinstance(ours, T.ArrayType) and isinstance(theirs, T.ArrayType):
        return _differences(f"{path}.element", ours.elementType, theirs.elementType)
    if isinstance(ours, T.MapType) and isinstance(theirs, T.MapType):
        keys = _differences(f"{path}.key", ours.keyType, theirs.keyType)
        return keys + _differences(f"{path}.value", ours.valueType, theirs.valueType)
    here, there = ours.simpleString(), theirs.simpleString()
    return [] if here == there else [f"`{path}` is {_shown(here)} and {_shown(there)} there"]


def _check_types(changes: DataFrame, change_type: str) -> None:
    kind = _column(change_type).cast("string")
    named = F.when(kind == "", "''").otherwise(F.coalesce(kind, F.lit("null")))
    unknown = changes.where("_change_kind is null").select(named)
    names = sorted(row[0] for row in unknown.distinct().limit(10).collect())
    if names:
        raise ValueError(
            f"The changelog holds rows whose `{change_type}` is not a change type: {'; '.join(names)}.\n"
            "Nothing was written. Remedy: translate it to INSERT, UPDATE_BEFORE, UPDATE_AFTER or DELETE."
        )


def _check_partitions(
    spark: SparkSession, target: str, changes: DataFrame, kept: Sequence[T.StructField], keys: Sequence[str]
) -> None:
    """Refuse what a partition column does not keep: null would be stored, or other bytes, or the write fails."""
    partitions = [name.lower() for name in spark.sql(f"describe detail {target}").collect()[0].partitionColumns]
    zone = spark.conf.get("spark.sql.session.timeZone")
    times = [field.name for field in kept if isinstance(field.dataType, T.TimestampType)]
    for name in (name for name in times if name.lower() in partitions and zone not in UTC_ZONES):
        raise ValueError(
            f"The timestamp `{name}` is a partition column of {target}, for which Delta keeps what a clock in {zone} "
            "shows, also where two moments show the same.\nRemedy: partition by a date, or set "
            "`spark.sql.session.timeZone` to `UTC`."
        )
    lossy = [field.name for field in kept if isinstance(field.dataType, T.StringType | T.BinaryType)]
    for name in (name for name in lossy if name.lower() in partitions):
        # A deletion has no values but its key.
        is_stored = F.lit(True) if name.lower() in map(str.lower, keys) else F.col("_change_kind") == "upsert"
        text = _column(name).cast("string")
        is_lost = text.isin(*NULL_PARTITIONS) | ~F.is_valid_utf8(text) | text.contains("\0")
        found = _key_texts(changes.where(is_lost & is_stored), keys)
        if found:
            raise ValueError(
                f"Rows have a value in `{name}` that Delta does not keep where it partitions by the column "
                f"(an empty text, `{NULL_PARTITIONS[1]}`, a zero byte or bytes that are not UTF-8): "
                f"{'; '.join(found)}.\nNothing was written. Remedy: give it another value, or partition the "
                "table by other columns."
            )


def _distinct_changes(
    changes: DataFrame, kept: Sequence[T.StructField], keys: Sequence[str], change_ordinal: str
) -> DataFrame:
    """Remove repeated identical changes of a key; raise ValueError for different ones."""
    if not _repeated(changes, keys):
        return changes
    ordinals = [field for field in changes.schema if field.name.lower() == change_ordinal.lower()]
    ordinal = _comparable(ordinals[0]) if ordinals else F.lit(None)
    # A deletion is the same whatever its row.
    row = F.when(F.col("_change_kind") == "upsert", F.struct(*map(_comparable, kept)))
    counted = (
        changes.withColumn("_change_state", F.struct(ordinal, row))
        .withColumn("_change_place", ordinal)
        .groupBy(*map(_quoted, keys))
        .agg(
            F.countDistinct("_change_state").alias("_change_states"),
            F.countDistinct("_change_place").alias("_change_places"),
        )
        .where("_change_states > 1")
    )
    conflicts = _key_texts(counted, keys)
    if not conflicts:
        return changes.dropDuplicates(list(keys))
    is_ordered = not _key_texts(counted.where("_change_places < 2"), keys)
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
        *(_column(_in_merge(key)).alias(key) for key in keys),
        ((kind == "upsert") & ~is_known).alias("_change_inserted"),
        ((kind == "upsert") & is_known & ~is_equal).alias("_change_updated"),
        ((kind == "delete") & is_known).alias("_change_deleted"),
    )
    effects = ("inserted", "updated", "deleted")
    found = matches.agg(
        F.count(F.lit(1)).alias("rows"),
        F.countDistinct(F.struct(*map(_column, keys))).alias("keys"),
        *(F.count_if(f"_change_{effect}").alias(effect) for effect in effects),
    ).first()
    if found["rows"] > found["keys"]:
        raise ValueError(
            f"multiple rows in destination table match key {list(keys)}: {'; '.join(_repeated(matches, keys))}.\n"
            f"Nothing was written. Remedy: delete the surplus rows of {target}, or add a column to the key."
        )
    return {effect: int(found[effect]) for effect in effects}


# -- values that did not come


def _is_unavailable(value: Column, placeholder: str) -> Column:
    """Whether a value is the placeholder, as text or bytes (also base64 or hex), array or map."""
    raw = placeholder.encode()
    texts = [placeholder, b64encode(raw).decode(), raw.hex(), f"[{placeholder}]", str(list(raw))]
    return F.coalesce(value.cast("string").isin(*texts, f"{{{placeholder} -> {placeholder}}}"), F.lit(False))


def _named_fields(fields: Sequence[T.StructField], names: str | Sequence[str]) -> list[str]:
    by_name = {field.name.lower(): field.name for field in fields}
    unknown = [name for name in _listed(names) if name.lower() not in by_name]
    if unknown:
        raise ValueError(
            f"`unavailable_columns` names {', '.join(unknown)}, part of the key or no column of the changelog: "
            "name others."
        )
    return [by_name[name.lower()] for name in _listed(names)]


def _with_values_of_copy(
    rows: DataFrame, source: DataFrame, is_same_key: Column, names: Sequence[str], placeholder: str
) -> DataFrame:
    """Replace placeholders with the values of the copy, and flag the rows without such a value."""
    stored = rows.withColumn("_change_is_known", F.lit(True))
    joined = source.join(stored, is_same_key, "left")
    lacks = {name: _is_unavailable(_column(_in_merge(name)), placeholder) for name in names}
    values = {_in_merge(name): F.when(lacks[name], _column(name)).otherwise(_column(_in_merge(name))) for name in names}
    kept = [values[name].alias(name) if name in values else _column(name) for name in source.columns]
    is_new = F.col("_change_is_known").isNull() & (F.col("_change_kind") == "upsert")
    return joined.select(*kept, (is_new & reduce(Column.__or__, lacks.values())).alias("_change_is_lacking"))


def _check_values(lacking: DataFrame, target: str, keys: Sequence[str], placeholder: str) -> None:
    found = _key_texts(lacking.select(*(_column(_in_merge(key)).alias(key) for key in keys)), keys)
    if found:
        raise ValueError(
            f"The changelog holds `{placeholder}` in place of values that {target} does not have: {'; '.join(found)}.\n"
            "Nothing was written. Remedy: let the source send these rows whole, as a snapshot does, or put another "
            "value in its place."
        )


# -- columns


def _is_ours(name: str) -> bool:
    return name.startswith("_change_")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _column(name: str) -> Column:
    return F.col(_quoted(name))


def _in_merge(name: str) -> str:
    """The name of a changelog column in the MERGE; the plain name is the column of the copy."""
    return f"_change_new_{name}"


def _incomparable(fields: Iterable[T.StructField]) -> list[str]:
    """The columns that Spark cannot compare, as text for a message."""
    types = {field.name: field.dataType.simpleString() for field in fields}
    return [
        f"`{name}` of type {_shown(data_type)}, of which Spark does not tell two values apart"
        for name, data_type in types.items()
        if re.search("(^|[<:,])variant($|[>,])", data_type)
    ]


def _maps_of_key(fields: Iterable[T.StructField], keys: Sequence[str]) -> list[str]:
    """The key columns that are or have a map, as text for a message."""
    names = [key.lower() for key in keys]
    types = {field.name: field.dataType.simpleString() for field in fields if field.name.lower() in names}
    return [f"`{name}` of type {_shown(data_type)}" for name, data_type in types.items() if "map<" in data_type]


def _shown(data_type: str, most: int = 100) -> str:
    """A type, cut off if it is long."""
    return data_type if len(data_type) <= most else data_type[: most - 1] + "…"


def _comparable(field: T.StructField, name: str | None = None) -> Column:
    """The column, or its canonical text for a map, which Spark cannot sort or compare."""
    value = _column(name or field.name)
    return _text(field.dataType, value) if "map<" in field.dataType.simpleString() else value


def _all_equal(sides: Iterable[Sequence[Column]]) -> Column:
    ours, theirs = sides
    return reduce(Column.__and__, (a.eqNullSafe(b) for a, b in zip(ours, theirs, strict=True)), F.lit(True))


def _kind(change_type: Column) -> Column:
    """Map a change type to its kind; null for null and unknown values. A char is padded."""
    word = F.lower(F.rtrim(change_type.cast("string")))
    return F.coalesce(*(F.when(word.isin(words), kind) for kind, words in KINDS.items()))


def _repeated(rows: DataFrame, keys: Sequence[str]) -> list[str]:
    counted = rows.groupBy(*map(_quoted, keys)).agg(F.count(F.lit(1)).alias("_change_rows"))
    return _key_texts(counted.where("_change_rows > 1"), keys)


def _key_texts(rows: DataFrame, keys: Sequence[str]) -> list[str]:
    """Up to ten keys, as text for a message."""
    parts = [F.concat(F.lit(f"{key} "), F.coalesce(_column(key).cast("string"), F.lit("null"))) for key in keys]
    texts = rows.select(F.concat_ws(", ", *parts).alias("business_key")).distinct().orderBy("business_key")
    return [row.business_key for row in texts.limit(10).collect()]
