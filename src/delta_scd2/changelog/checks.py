"""What a changelog must be to be applied to a copy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from delta_scd2.changelog.kinds import is_reserved
from delta_scd2.columns import (
    declared_type,
    incomparable_columns,
    key_texts,
    maps_of_key,
    quoted,
    quoted_column,
    shown,
)

# Texts for which Delta stores null in a partition column.
NULL_PARTITIONS = ("", "__HIVE_DEFAULT_PARTITION__")

# A type without values, and others that no table holds.
UNSTORABLE = re.compile(r"(void|interval|geometry|geography|time)\b|string collate")

# Names of the time zone in which no hour comes twice.
UTC_ZONES = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")


def check_change_type(changelog: DataFrame, change_type: str) -> None:
    """Refuse a changelog that does not say what each change is."""
    if change_type.lower() not in map(str.lower, changelog.columns):
        raise ValueError(
            f"the changelog has no column `{change_type}`: add it, or name the column with the kind of change in "
            "`change_type`"
        )


def check_copy(target: str, target_schema: T.StructType, kept: Sequence[T.StructField], keys: Sequence[str]) -> None:
    """Refuse a changelog with other columns than the copy, or with some that cannot be compared."""
    ours = {field.name.lower(): field.dataType for field in target_schema}
    theirs = {field.name.lower(): field for field in kept}
    mistakes = [f"the key `{key}` is not a column of the changelog" for key in keys if key.lower() not in theirs]
    names = [field.name.lower() for field in kept]
    mistakes += [
        f"the changelog has more than one column named `{field.name}`: rename or drop one of them"
        for name, field in theirs.items()
        if names.count(name) > 1
    ]
    mistakes += [f"the changelog has the column {column}: cast it to string" for column in incomparable_columns(kept)]
    mistakes += [
        f"the column {column} stands in the key, and maps cannot be compared: name other columns"
        for column in maps_of_key(kept, keys)
    ]
    reserved = filter(is_reserved, theirs)
    mistakes += [f"the column `{name}` has a reserved name (`_change_…`): rename it" for name in reserved]
    for name, field in theirs.items():
        data_type = field.dataType.simpleString()
        if not _is_storable(field.dataType):
            mistakes.append(
                f"the column `{field.name}` is {shown(data_type)}, which Delta does not store: "
                "cast it to a type that it stores, such as string"
            )
        elif name not in ours:
            mistakes.append(
                f"the changelog has the column `{field.name}`, which {target} lacks: "
                f"add it with `{_added(target, field)}`"
            )
        elif ours[name].simpleString() != data_type:
            mistakes.append(_wrong_type(field.name, field.dataType, ours[name], target))
    mistakes += [
        f"{target} holds the column `{name}`, which the changelog lacks" for name in ours if name not in theirs
    ]
    if mistakes or not keys:
        raise ValueError("\n".join(mistakes) or "apply_changelog has no keys: name at least one.")


def _added(target: str, field: T.StructField) -> str:
    """The statements that add a column; Delta does not enable the table feature of a type by itself."""
    declared = declared_type(field.dataType)
    statements = [f"alter table {target} add columns ({quoted(field.name)} {shown(declared, 500)})"]
    if re.search("(^|[<:,])timestamp_ntz($|[>,])", declared):
        statements.insert(0, f"alter table {target} set tblproperties ('delta.feature.timestampNtz' = 'supported')")
    return "; ".join(statements)


def _is_storable(data_type: T.DataType) -> bool:
    """Whether Delta stores a type, and each type within it."""
    if isinstance(data_type, T.StructType):
        return all(_is_storable(field.dataType) for field in data_type)
    if isinstance(data_type, T.ArrayType):
        return _is_storable(data_type.elementType)
    if isinstance(data_type, T.MapType):
        return _is_storable(data_type.keyType) and _is_storable(data_type.valueType)
    return UNSTORABLE.match(data_type.simpleString()) is None


def _wrong_type(name: str, data_type: T.DataType, target_type: T.DataType, target: str) -> str:
    here, there = data_type.simpleString(), target_type.simpleString()
    if "struct<" not in here or "struct<" not in there:
        return f"the column `{name}` is {shown(here)} in the changelog and {shown(there)} in {target}: cast it"
    found = _differences(name, data_type, target_type)
    told = found[:5] + ([f"and {len(found) - 5} more"] if len(found) > 5 else [])
    return f"the column `{name}` has other fields in the changelog than in {target}, {'; '.join(told)}: cast it"


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
    return [] if here == there else [f"`{path}` is {shown(here)} and {shown(there)} there"]


def check_types(changes: DataFrame, change_type: str) -> None:
    """Refuse changes of an unknown kind."""
    kind = quoted_column(change_type).cast("string")
    named = F.when(kind == "", "''").otherwise(F.coalesce(kind, F.lit("null")))
    unknown = changes.where("_change_kind is null").select(named)
    names = sorted(row[0] for row in unknown.distinct().limit(10).collect())
    if names:
        raise ValueError(
            f"The changelog holds rows whose `{change_type}` is not a change type: {'; '.join(names)}.\n"
            "Nothing was written. Remedy: translate it to INSERT, UPDATE_BEFORE, UPDATE_AFTER or DELETE."
        )


def check_memory(target: str, properties: Mapping[str, str]) -> None:
    """Refuse a copy that remembers ordinals: older changes would replace these later."""
    if "scd2.ordinals_id" in properties:
        raise ValueError(
            f"{target} remembers the ordinals of its changes, and apply_changelog does not.\nNothing was written. "
            "Remedy: return the changes from the model of the copy, or let the copy forget them with "
            f"`alter table {target} unset tblproperties ('scd2.ordinals_id')`."
        )


def check_partitions(
    spark: SparkSession,
    target: str,
    partition_columns: Sequence[str],
    changes: DataFrame,
    kept: Sequence[T.StructField],
    keys: Sequence[str],
) -> None:
    """Refuse what a partition column does not keep: null would be stored, or other bytes, or the write fails."""
    partitions = [name.lower() for name in partition_columns]
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
        text = quoted_column(name).cast("string")
        is_lost = text.isin(*NULL_PARTITIONS) | ~F.is_valid_utf8(text) | text.contains("\0")
        found = key_texts(changes.where(is_lost & is_stored), keys)
        if found:
            raise ValueError(
                f"Rows have a value in `{name}` that Delta does not keep where it partitions by the column "
                f"(an empty text, `{NULL_PARTITIONS[1]}`, a zero byte or bytes that are not UTF-8): "
                f"{'; '.join(found)}.\nNothing was written. Remedy: give it another value, or partition the "
                "table by other columns."
            )
