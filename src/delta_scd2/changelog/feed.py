"""The net changes of a Delta table, from its change data feed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from delta_scd2.changelog.kinds import is_reserved
from delta_scd2.columns import all_equal, incomparable_columns, key_texts, listed, maps_of_key, quoted, quoted_column
from delta_scd2.hashing import comparable
from delta_scd2.timestamps import EPOCH, utc_timestamp

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
    check_session(spark)
    key_names = listed(keys or [])
    rows = spark.table(table)
    _check_columns(table, rows.schema, key_names)
    location = _location(spark, table)
    first, last = _range(spark, table, from_version, to_version, from_timestamp, to_timestamp)
    start = min(first, last)
    feed = _feed_query(location, start, last)
    _check_feed(spark, table, feed, start, last)
    if first > last:
        nothing = {"_change_type": F.lit(""), "_change_ordinal": _of_range(F.lit(0).cast("bigint"), last)}
        return rows.where("false").withColumns(nothing)
    changes = _with_later_columns(spark.sql(feed), rows.schema, table, start, last).select(
        *map(quoted_column, rows.columns),
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
            f"Remedy: name the columns that identify a row of {table}; or leave `keys` out to get its net changes, "
            "which a copy of single rows of a key must not apply."
        )
    return _net_changes(changes, rows.schema, key_names)


def check_session(spark: SparkSession) -> None:
    """Refuse a session in which rows can go missing without an error."""
    for name in SILENCED:
        if spark.conf.get(name, "false").lower() == "true":
            raise ValueError(
                f"The session leaves out what it cannot read, without an error.\nRemedy: set `{name}` to `false`."
            )


def _feed_query(location: str, first: int, last: int) -> str:
    """By path: if a plan reads two ranges by table name, Delta 4.4 reads the first range twice."""
    path = location.replace("\\", "\\\\").replace("'", "\\'")
    return f"select * from table_changes_by_path('{path}', {first}, {last})"  # noqa: S608  # escaped above


def _location(spark: SparkSession, table: str) -> str:
    try:
        return str(spark.sql(f"describe detail {table}").head().location)
    except PySparkException as error:
        if "[EXPECT_TABLE_NOT_VIEW" not in str(error):
            raise
        raise ValueError(
            f"{table} is a view, so it has no change data feed.\nRemedy: read the table behind it."
        ) from None


def _check_columns(table: str, schema: T.StructType, keys: Sequence[str]) -> None:
    names = [name.lower() for name in schema.names]
    for key in keys:
        if key.lower() not in names:
            raise ValueError(f"The changelog of {table} has the key `{key}`, which is not a column of the table.")
    for key in maps_of_key(schema, keys):
        raise ValueError(
            f"The changelog of {table} has the key {key}, and maps cannot be compared.\nRemedy: name other columns."
        )
    for name in names:
        if is_reserved(name):
            raise ValueError(
                f"{table} has a column `{name}`; names that begin with `_change_` are reserved for the changelog.\n"
                "Remedy: rename the column."
            )
    for name in incomparable_columns(schema):
        raise ValueError(f"{table} has the column {name}.\nRemedy: keep it in the table as a string.")


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
        if version is not None and (not isinstance(version, int) or version < 0):
            raise ValueError(f"{which} is asked for version `{version}`: give a whole number from 0.")
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
    if condition == "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION":
        raise ValueError(
            f"The changes of {table} since version {first} are older than its `delta.deletedFileRetentionDuration`.\n"
            f"Remedy: raise that, as with `alter table {table} set tblproperties "
            "('delta.deletedFileRetentionDuration' = 'interval 30 days')`, which makes them readable again if no "
            f"`VACUUM` has removed their files; otherwise, {_how_to_go_on('a version that is retained')}."
        )
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
    columns = [quoted(key) for key in keys]
    same_key = all_equal([F.col(f"{side}.{key}") for key in columns] for side in ("later", "changes"))
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
    return key_texts(counted.where("_change_rows > 1"), keys)


def _of_range(ordinal: Column, version: int) -> Column:
    """The ordinal of net changes; its comment distinguishes them from events."""
    return ordinal.alias("_change_ordinal", metadata={"comment": f"net changes up to version {version}"})


def _net_changes(changes: DataFrame, schema: T.StructType, keys: Sequence[str]) -> DataFrame:
    columns = [quoted(field.name) for field in schema]
    by_row = Window.partitionBy(*map(comparable, schema)).orderBy("_change_ordinal")
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
        is_pair = F.count(F.lit(1)).over(Window.partitionBy(*map(quoted_column, keys))) > 1
        kind = F.when(is_pair, F.when(count > 0, "UPDATE_AFTER").otherwise("UPDATE_BEFORE")).otherwise(kind)
    else:
        net = net.withColumn("_change_copy", F.explode(F.array_repeat(F.lit(True), F.abs(count).cast("int"))))
    return net.select(*columns, kind.alias("_change_type"), "_change_ordinal")
