"""The columns of a DataFrame, as SQL and as text for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def quoted_column(name: str, alias: str | None = None) -> Column:
    """A column of a DataFrame, or of the one that has the alias."""
    return F.col(f"{alias}.{quoted(name)}" if alias else quoted(name))


def listed(columns: str | Sequence[str]) -> list[str]:
    """One name, or several, as a list."""
    return [columns] if isinstance(columns, str) else list(columns)


def require_columns(rows: DataFrame, role: str, columns: Sequence[str]) -> None:
    """Raise ValueError if rows lack columns; `role` is what the rows are called in the message."""
    present = {column.lower() for column in rows.columns}
    missing = [column for column in columns if column.lower() not in present]
    if missing:
        raise ValueError(f"The {role} has no column {', '.join(missing)}. Its columns are: {', '.join(rows.columns)}.")


def all_equal(sides: Iterable[Sequence[Column]]) -> Column:
    """Whether two rows of columns are equal, nulls included."""
    ours, theirs = sides
    return reduce(Column.__and__, (a.eqNullSafe(b) for a, b in zip(ours, theirs, strict=True)), F.lit(True))


def incomparable_columns(fields: Iterable[T.StructField]) -> list[str]:
    """The columns that Spark cannot compare, as text for a message."""
    types = {field.name: field.dataType.simpleString() for field in fields}
    return [
        f"`{name}` of type {shown(data_type)}, of which Spark does not tell two values apart"
        for name, data_type in types.items()
        if re.search("(^|[<:,])variant($|[>,])", data_type)
    ]


def maps_of_key(fields: Iterable[T.StructField], keys: Sequence[str]) -> list[str]:
    """The key columns that are or have a map, as text for a message."""
    names = [key.lower() for key in keys]
    types = {field.name: field.dataType.simpleString() for field in fields if field.name.lower() in names}
    return [f"`{name}` of type {shown(data_type)}" for name, data_type in types.items() if "map<" in data_type]


def declared_type(data_type: T.DataType) -> str:
    """A type as a statement declares it: PySpark leaves the names of fields as they are."""
    if isinstance(data_type, T.StructType):
        names = [
            field.name if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", field.name) else quoted(field.name)
            for field in data_type
        ]
        types = [declared_type(field.dataType) for field in data_type]
        return f"struct<{','.join(f'{name}:{declared}' for name, declared in zip(names, types, strict=True))}>"
    if isinstance(data_type, T.ArrayType):
        return f"array<{declared_type(data_type.elementType)}>"
    if isinstance(data_type, T.MapType):
        return f"map<{declared_type(data_type.keyType)},{declared_type(data_type.valueType)}>"
    declared: str = data_type.simpleString()
    return declared


def shown(data_type: str, most: int = 100) -> str:
    """A type, cut off if it is long."""
    return data_type if len(data_type) <= most else data_type[: most - 1] + "…"


def key_texts(rows: DataFrame, keys: Sequence[str]) -> list[str]:
    """Up to ten keys, as text for a message."""
    parts = [F.concat(F.lit(f"{key} "), F.coalesce(quoted_column(key).cast("string"), F.lit("null"))) for key in keys]
    texts = rows.select(F.concat_ws(", ", *parts).alias("business_key")).distinct().orderBy("business_key")
    return [row.business_key for row in texts.limit(10).collect()]


def repeated_keys(rows: DataFrame, keys: Sequence[str]) -> list[str]:
    """Up to ten keys that several rows have, as text for a message."""
    counted = rows.groupBy(*map(quoted, keys)).agg(F.count(F.lit(1)).alias("_change_rows"))
    return key_texts(counted.where("_change_rows > 1"), keys)
