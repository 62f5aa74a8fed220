"""The Python twins of the macros `hash_key` and `hash_diff`; docs/decisions/0002-hash-format.md defines the format."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from delta_scd2.columns import listed, quoted_column

SEPARATOR = "|"
ESCAPE = "\\"
NULL = ESCAPE + "N"
HOLDS_ANY_TEXT = (T.StringType, T.CharType, T.VarcharType, T.ArrayType, T.MapType, T.StructType)


def hash_key(df: DataFrame, columns: str | Sequence[str]) -> Column:
    """Hash columns of `df` with SHA-256, in the given order: the durable key of a business key."""
    return _hash_of(df, listed(columns))


def hash_diff(df: DataFrame, columns: str | Sequence[str]) -> Column:
    """Hash columns of `df` with SHA-256, sorted by name, to detect a change in any of them."""
    return _hash_of(df, sorted(listed(columns), key=str.lower))


def _hash_of(df: DataFrame, names: list[str]) -> Column:
    if not names:
        raise ValueError("A hash has no columns: name at least one.")
    types = {field.name.lower(): field.dataType for field in df.schema}
    unknown = [name for name in names if name.lower() not in types]
    if unknown:
        raise ValueError(f"No such column to hash: {', '.join(unknown)}. The columns are: {', '.join(df.columns)}.")
    fields = []
    for name in names:
        column_type = types[name.lower()]
        try:
            fields.append(_field(column_type, quoted_column(name)))
        except _NoTextError as error:
            raise TypeError(
                f"Column {name} of type {column_type.simpleString()} cannot be hashed: {error} has no text in the "
                "hash format. Cast it in staging, for example to string."
            ) from None
    return F.sha2(F.concat_ws(SEPARATOR, *fields), 256)


def comparable(field: T.StructField, name: str | None = None) -> Column:
    """The column, or its canonical text for a map, which Spark cannot sort or compare."""
    value = quoted_column(name or field.name)
    return hash_text(field.dataType, value) if "map<" in field.dataType.simpleString() else value


class _NoTextError(Exception):
    """The hash format defines no text for a type."""


def _field(data_type: T.DataType, value: Column) -> Column:
    """Escape separators in the texts that can hold them; no value has the same text as null."""
    text = hash_text(data_type, value)
    if isinstance(data_type, HOLDS_ANY_TEXT):
        for special in (ESCAPE, SEPARATOR):
            text = F.replace(text, F.lit(special), F.lit(ESCAPE + special))
    return F.coalesce(text, F.lit(NULL))


def hash_text(data_type: T.DataType, value: Column) -> Column:
    """The canonical text of a value; null for null."""
    match data_type:
        case (
            T.StringType()
            | T.CharType()
            | T.VarcharType()
            | T.BooleanType()
            | T.ByteType()
            | T.ShortType()
            | T.IntegerType()
            | T.LongType()
            | T.TimestampNTZType()
        ):
            return value.cast("string")
        case T.DecimalType():
            # Not a cast, which returns 1E-7 without ANSI mode.
            return F.call_function("format_number", value, F.lit("0." + "#" * max(data_type.scale, 1)))
        case T.FloatType():
            return hash_text(T.DoubleType(), value.cast("double"))
        case T.DoubleType():
            # The printed digits of a fraction depend on the Java version; xxhash64 maps eight bytes
            # one-to-one and is fast.
            whole = (value % 1 == 0) & (F.abs(value) < 2**53)
            other = F.concat(F.lit("x"), F.xxhash64(value).cast("string"))
            return F.when(whole, value.cast("bigint").cast("string")).when(value.isNotNull(), other)
        case T.DateType():
            # Not a cast, whose text differs under the legacy time parser policy.
            return F.unix_date(value).cast("string")
        case T.TimestampType():
            return F.unix_micros(value).cast("string")
        case T.BinaryType():
            return F.hex(value)
        case T.ArrayType():
            element_type = data_type.elementType
            return _sized(value, F.transform(value, lambda element: _field(element_type, element)))
        case T.MapType():
            return _sized(value, _sorted_entries(data_type, value))
        case T.StructType():
            texts = [_field(field.dataType, value.getField(field.name)) for field in data_type]
            return F.when(value.isNotNull(), F.concat_ws(SEPARATOR, *texts))
        case _:
            raise _NoTextError(data_type.simpleString())


def _sized(value: Column, texts: Column) -> Column:
    return F.concat(F.size(value).cast("string"), F.lit(":"), F.array_join(texts, SEPARATOR))


def _sorted_entries(map_type: T.MapType, value: Column) -> Column:
    """Alternating key and value texts; arrays of two texts are sorted by the text of the key."""

    def entry(pair: Column) -> Column:
        return F.array(_field(map_type.keyType, pair["key"]), _field(map_type.valueType, pair["value"]))

    return F.flatten(F.array_sort(F.transform(F.map_entries(value), entry)))
