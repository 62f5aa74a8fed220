"""A dimension described by dbt and read by Spark from one version of its Delta table."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, localcontext
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DecimalType,
    MapType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from delta_scd2.columns import quoted_column
from delta_scd2.history.load_log import LastLoad, last_loads
from delta_scd2.history.timeline import DAY, Version
from delta_scd2.operations import OperationError, run_operation
from delta_scd2.timestamps import EPOCH, JSON_TIMES

NESTED = (ArrayType, MapType, StructType, VariantType)
AS_JSON = {"ignoreNullFields": "false", **JSON_TIMES, "timeZone": "UTC"}
NEAREST = 3


class HistoryError(Exception):
    """An error that the user can fix; its text is printed."""


class UnreadableError(HistoryError):
    """Spark cannot read a table, such as one without some of its files."""


@dataclass(frozen=True)
class Load:
    """The changes at a time, or on the day that starts then: numbers of keys by kind of change."""

    at: int
    new: int
    changed: int
    returned: int
    deleted: int


class Dimension:
    """One version of a dimension's table.

    Attributes:
        name: The name of the model.
        unique_id: The model in dbt's artifacts.
        version: The version of the Delta table from which everything is read.
        committed_at: The commit time of that version.
        keys: The columns of the business key.
        attributes: The other columns of the model, except those of `sequence_by`.
        tracked: The attributes whose changes open a version.
        keeps_tombstones: Whether rows flagged as deleted cover the time after the deletion.
        has_unknown_member: Whether there is a row for facts without a key; it is never counted.
    """

    def __init__(self, name: str, description: Mapping[str, Any], spark: SparkSession) -> None:
        self.name = name
        self.unique_id: str = description["unique_id"]
        relation = description["relation"]
        # Spark Connect returns both moments of an hour that comes twice as the first one.
        history = spark.sql(f"describe history {relation} limit 1")
        newest = history.select("version", F.unix_micros("timestamp").alias("committed_at")).first()
        self.version: int = newest["version"]
        self.committed_at = EPOCH + timedelta(microseconds=newest["committed_at"])
        self._frame: DataFrame = spark.sql(f"select * from {relation} version as of {self.version}")  # noqa: S608

        stored: dict[str, StructField] = {field.name.lower(): field for field in self._frame.schema}
        self._columns: dict[str, str] = {role: column for role, column in description["columns"].items() if column}
        # A configured state hash may be missing until the next load; nothing here reads it.
        read = [column for role, column in self._columns.items() if role != "state_hash"]
        missing = [c for c in [*read, *description["unique_key"]] if c.lower() not in stored]
        if missing:
            raise HistoryError(
                f"The table of {name} has no column {', '.join(missing)}, which its configuration names: "
                f"`dbt build --select {name}` adds it, or says what to do."
            )
        untold = {c.lower() for c in [*self._columns.values(), *description["unique_key"], *description["sequence_by"]]}
        tracked = {column.lower() for column in json.loads(description["recorded"]["scd2.track_columns"])}
        self._key_fields = [stored[column.lower()] for column in description["unique_key"]]
        self._attribute_fields = [field for column, field in stored.items() if column not in untold]
        self.keys: list[str] = [field.name for field in self._key_fields]
        self.attributes: list[str] = [field.name for field in self._attribute_fields]
        self.tracked = [column for column in self.attributes if column.lower() in tracked]
        self.keeps_tombstones: bool = description["keeps_tombstones"]
        self.has_unknown_member: bool = description["unknown_member"]
        self._yes: str = description["yes"]
        self._is_open: str = description["is_open"]
        self._gap_micros: int = description["gap_micros"]

    def versions(self, key: Sequence[str]) -> list[Version]:
        """The versions of one key, oldest first; empty if the key does not exist.

        Args:
            key: Its values as text, in the order of `keys`.
        """
        found = self._frame
        for field, value in zip(self._key_fields, key, strict=True):
            if isinstance(field.dataType, NESTED):
                found = found.where(_text(field) == value)
            elif isinstance(field.dataType, BinaryType):
                found = found.where(quoted_column(field.name) == F.unhex(F.lit(value)))
            elif isinstance(field.dataType, DecimalType) and not _has_digits(value, field.dataType.scale):
                # Spark would round it, to another key.
                return []
            else:
                found = found.where(quoted_column(field.name) == F.lit(value).try_cast(field.dataType))
        return [_version(row) for row in self._rows(found).orderBy("begins").collect()]

    def nearest(self, key: Sequence[str]) -> list[tuple[str, ...]]:
        """The existing keys with the most similar text."""
        keys = self._rows(self._frame).select("key").distinct()
        distance = F.levenshtein(F.lower(F.array_join("key", "\t")), F.lit("\t".join(key).lower()))
        return [tuple(row.key) for row in keys.orderBy(distance, "key").limit(NEAREST).collect()]

    def loads(self, limit: int) -> list[Load]:
        """Changes per time, oldest first; per day (UTC) if there are more times than `limit`."""
        happened = self._neighbours().select(
            F.inline(
                F.array(
                    F.struct(F.col("begins").alias("at"), F.col("kind")),
                    F.struct(F.col("gone_at").alias("at"), F.lit("deleted").alias("kind")),
                )
            )
        )
        happened = happened.where(F.col("at").isNotNull() & F.col("kind").isNotNull())
        loads = _counted(happened).limit(limit + 1).collect()
        if len(loads) > limit:
            loads = _counted(happened.withColumn("at", F.col("at") - F.pmod("at", F.lit(DAY)))).collect()
        return sorted((Load(**row.asDict()) for row in loads), key=lambda load: load.at)

    def keys_by_versions(self) -> dict[int, int]:
        """The number of keys by their number of versions."""
        rows = self._versions_per_key().groupBy("versions").count().orderBy("versions").collect()
        return {row["versions"]: row["count"] for row in rows}

    def changes_by_column(self) -> dict[str, int]:
        """For each tracked column, the number of successive version pairs in which it differs."""
        positions = {column: self.attributes.index(column) for column in self.tracked}
        differs = [
            F.count_if(~F.col("values")[position].eqNullSafe(F.col("values_before")[position])).alias(str(position))
            for position in positions.values()
        ]
        if not differs:
            return {}
        counted = self._neighbours().where("kind in ('changed', 'returned')").agg(*differs).first()
        return {column: counted[str(position)] for column, position in positions.items()}

    def longest(self, keys: int, versions: int) -> list[tuple[tuple[str, ...], int, int, list[Version]]]:
        """The keys with the most versions, each with these, its rows, and the newest rows in order."""
        most = self._versions_per_key().orderBy(F.desc("versions"), "key").limit(keys)
        newest_first = Window.partitionBy("key").orderBy(F.desc("begins"))
        rows = (
            self._rows(self._frame)
            .join(F.broadcast(most), "key")
            .withColumn("rows", F.count("*").over(Window.partitionBy("key")))
            .withColumn("place", F.row_number().over(newest_first))
            .where(F.col("place") <= versions)
            .orderBy("key", "begins")
        )
        found: dict[tuple[str, ...], tuple[int, int, list[Version]]] = {}
        for row in rows.collect():
            found.setdefault(tuple(row["key"]), (row["versions"], row["rows"], []))[2].append(_version(row))
        return sorted(((key, *own) for key, own in found.items()), key=lambda item: (-item[1], item[0]))

    def _rows(self, frame: DataFrame) -> DataFrame:
        """Rows with the fields of `Version`, without the unknown member."""
        begins, ends, is_current, is_deleted = (
            quoted_column(self._columns[role])
            for role in ("effective_from", "effective_to", "is_current", "is_deleted")
        )
        for key in self.keys:
            frame = frame.where(quoted_column(key).isNotNull())
        yes = F.expr(self._yes)
        return frame.select(
            F.array(*map(_text, self._key_fields)).alias("key"),
            F.array(*map(_text, self._attribute_fields)).cast("array<string>").alias("values"),
            F.unix_micros(begins).alias("begins"),
            F.when(~F.expr(self._is_open), F.unix_micros(ends) + self._gap_micros).alias("ends"),
            (is_current == yes).alias("is_current"),
            (is_deleted == yes).alias("is_deleted"),
            (F.lit(self.keeps_tombstones) & (is_deleted == yes)).alias("is_tombstone"),
        )

    def _versions_per_key(self) -> DataFrame:
        return self._rows(self._frame).where("not is_tombstone").groupBy("key").agg(F.count("*").alias("versions"))

    def _neighbours(self) -> DataFrame:
        """Every version with its `kind` as in `timeline`, and `gone_at` if a deletion ended it."""
        in_order = Window.partitionBy("key").orderBy("begins")
        lasts_until = F.lag("ends").over(in_order)
        rows = self._rows(self._frame).where("not is_tombstone")
        return rows.select(
            "*",
            F.lag("values").over(in_order).alias("values_before"),
            F.when(F.lag("begins").over(in_order).isNull(), "new")
            .when(lasts_until == F.col("begins"), "changed")
            .otherwise("returned")
            .alias("kind"),
            F.when(~F.col("ends").eqNullSafe(F.lead("begins").over(in_order)), F.col("ends")).alias("gone_at"),
        )


@dataclass(frozen=True)
class Member:
    """A dimension of a project.

    Attributes:
        name: The name of the model.
        description: What the project says about it.
        last_load: The newest row of the load log about it, if there is one.
        facts: What the macro `scd2_describe` tells about it.
    """

    name: str
    description: str
    last_load: LastLoad | None
    facts: Mapping[str, Any]

    def open(self) -> Dimension:
        """Open the dimension in the active Spark session.

        Raises:
            HistoryError: It was not built, or has mistakes in its configuration.
        """
        return _opened(self.facts)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Raise the errors of Spark as an `UnreadableError`."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        message = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
        raise UnreadableError(f"Spark cannot read {name}: {' '.join(str(message).split())}") from error


def open_dimension(name: str, dbt_options: Sequence[str]) -> Dimension:
    """Open a dimension of a dbt project in the Spark session of its target.

    Args:
        name: The name of the model.
        dbt_options: dbt options, such as `--project-dir` and `--target`.

    Raises:
        HistoryError: dbt cannot read the project, there is no such dimension, it was not built, or
            the connection method of the target is not `session`.
    """
    description = _described(name, dbt_options)
    if len(description["found"]) > 1:
        raise HistoryError(f"{name} names several scd2 models: name one of {', '.join(description['found'])}.")
    if not description["found"]:
        raise HistoryError(f"No scd2 model is named {name}{_or_nearest(name, description['dimensions'])}.")
    return _opened(description["described"][0])


def open_project(dbt_options: Sequence[str]) -> tuple[str, list[Member]]:
    """Find all dimensions of a dbt project.

    Args:
        dbt_options: dbt options, such as `--project-dir` and `--target`.

    Returns:
        The name of the project and its dimensions, by name.

    Raises:
        HistoryError: dbt cannot read the project, it has no dimension, Spark cannot read its load
            log, or the connection method of the target is not `session`.
    """
    description = _described(None, dbt_options)
    if not description["described"]:
        raise HistoryError("The project has no scd2 model.")
    spark = _session("The project")
    with reading("the load log"):
        loads = last_loads(spark, description["load_log"]) if description["load_log"] else {}
    members = [
        Member(facts["name"], facts["description"], loads.get(facts["relation"].replace("`", "")), facts)
        for facts in sorted(description["described"], key=lambda each: each["name"])
    ]
    return description["project"], members


def parse_key(texts: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The values of a business key in the order of its columns.

    Args:
        texts: `column=value` for each column; for a single-column key, the value is enough.
        columns: The columns of the key.

    Raises:
        HistoryError: A column is missing, repeated, or not part of the key.
    """
    by_name = {column.lower(): column for column in columns}
    values: dict[str, str] = {}
    for text in texts:
        left, equals, right = text.partition("=")
        column = by_name.get(left.strip().lower()) if equals else None
        if column is None and len(columns) == 1:
            column, right = columns[0], text
        if column is None:
            problem = f"{left} is not a column of the business key" if equals else f"`{text}` names no column"
            nearest = _or_nearest(left, columns) if equals else ""
            raise HistoryError(f"{problem}{nearest}: the key is given as {key_options(columns)}.")
        if column in values:
            raise HistoryError(f"The key gives {column} twice: `{values[column]}` and `{right}`.")
        values[column] = right
    missing = [column for column in columns if column not in values]
    if missing:
        raise HistoryError(f"The key lacks {', '.join(missing)}: add {key_options(missing)}.")
    return [values[column] for column in columns]


def key_options(columns: Sequence[str]) -> str:
    """How the columns of a key are given on the command line."""
    return " ".join(f"--key {column}=…" for column in columns)


def key_text(key: Sequence[str], columns: Sequence[str]) -> str:
    """A business key as text: the value, or a list of `column=value` if it is composite."""
    return key[0] if len(columns) == 1 else ", ".join(f"{c}={v}" for c, v in zip(columns, key, strict=True))


def _opened(facts: Mapping[str, Any]) -> Dimension:
    name = facts["name"]
    mistakes = facts["mistakes"]
    if mistakes:
        raise HistoryError(f"{name} has {len(mistakes)} mistake(s) in the configuration: {'; '.join(mistakes)}.")
    # A table created with `--empty` has no properties yet.
    if "scd2.track_columns" not in (facts["recorded"] or {}):
        raise HistoryError(f"{name} has not been built: run `dbt build --select {name}`.")
    return Dimension(name, facts, _session(name))


def _session(reader: str) -> SparkSession:
    try:
        return SparkSession.active()
    except PySparkRuntimeError as error:
        raise HistoryError(
            f"{reader} cannot be read: dbt's target is not one of the method `session`; choose one with `--target`."
        ) from error


def _described(name: str | None, dbt_options: Sequence[str]) -> dict[str, Any]:
    """The output of the macro `scd2_describe`; running it opens the session of the target."""
    try:
        # The macro prints the last line; models may print others while dbt parses them.
        *_, description = run_operation("scd2_describe", {"dimension": name}, dbt_options)
    except OperationError as error:
        text = " ".join(re.sub("(Runtime|Database) Error\n", "", str(error)).split())
        raise HistoryError(f"dbt could not describe the project: {text}") from error
    return dict(json.loads(description))


def _or_nearest(word: str, candidates: Sequence[str]) -> str:
    by_name = {candidate.lower(): candidate for candidate in candidates}
    near = [by_name[name] for name in difflib.get_close_matches(word.lower(), by_name, NEAREST)]
    return f"; the nearest: {', '.join(near or sorted(candidates)) or 'none'}"


def _counted(happened: DataFrame) -> DataFrame:
    kinds = ("new", "changed", "returned", "deleted")
    return happened.groupBy("at").agg(*(F.count_if(F.col("kind") == kind).alias(kind) for kind in kinds))


def _has_digits(value: str, scale: int) -> bool:
    """Whether a number has no more decimals than these."""
    try:
        # Python rounds to 28 digits otherwise, and Spark has up to 38 on both sides of the point.
        with localcontext(prec=2 * 38):
            return Decimal(value) == round(Decimal(value), scale)
    except (ArithmeticError, ValueError):
        return False


def _version(row: Any) -> Version:
    return Version(row["begins"], row["ends"], tuple(row["values"]), row["is_current"], row["is_deleted"])


def _text(field: StructField) -> Column:
    """The text of a value for display and comparison; of nested types JSON, with times in UTC."""
    column, data_type = quoted_column(field.name), field.dataType
    if isinstance(data_type, BinaryType):
        return F.hex(column)
    if isinstance(data_type, NESTED):
        return F.to_json(_with_sorted_maps(column, data_type), AS_JSON)
    if isinstance(data_type, TimestampType):
        text = column.cast("string")
        is_second = ~text.try_cast(data_type).eqNullSafe(column)
        # Of the hour that comes twice, Spark reads a text without an offset as the first.
        return F.when(is_second, F.concat(text, F.date_format(column, "XXX"))).otherwise(text)
    return column.cast("string")


def _with_sorted_maps(column: Column, data_type: DataType) -> Column:
    """The value with the entries of its maps sorted by their keys: a load compares maps without their order.

    Their keys become texts: `to_json` would write a time as a number, and bytes as a place in memory.
    """
    if "map<" not in data_type.simpleString():
        return column
    if isinstance(data_type, ArrayType):
        return F.transform(column, lambda element: _with_sorted_maps(element, data_type.elementType))
    if isinstance(data_type, StructType):
        fields = [
            _with_sorted_maps(column.getField(field.name), field.dataType).alias(field.name) for field in data_type
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    assert isinstance(data_type, MapType)
    entries = F.transform(
        F.map_entries(column),
        lambda entry: F.struct(
            entry["key"].alias("key"), _with_sorted_maps(entry["value"], data_type.valueType).alias("value")
        ),
    )
    in_order = F.array_sort(entries, lambda one, other: F.when(one["key"] < other["key"], -1).otherwise(1))
    with_texts = F.transform(
        in_order,
        lambda entry: F.struct(_key_text(entry["key"], data_type.keyType).alias("key"), entry["value"].alias("value")),
    )
    return F.map_from_entries(with_texts)


def _key_text(key: Column, data_type: DataType) -> Column:
    """The text of a map's key: as in JSON for bytes, times and nested types, without the quotes of a time."""
    if isinstance(data_type, BinaryType):
        return F.base64(key)
    if isinstance(data_type, (TimestampType, TimestampNTZType, *NESTED)):
        return F.regexp_extract(F.to_json(F.array(key), AS_JSON), r'^\["?(.*?)"?\]$', 1)
    return key.cast("string")
