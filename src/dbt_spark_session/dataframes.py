"""Converts the result of a Python model to a Spark DataFrame, and writes it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType


# Where Spark keeps the declared type of a text with a length.
DECLARED_TYPE = "__CHAR_VARCHAR_TYPE_STRING"


def to_spark_dataframe(result: Any, spark: SparkSession, keeps_padding: bool = False) -> DataFrame:
    """Convert a Spark, pandas-on-Spark or pandas DataFrame to a Spark DataFrame; drops the index.

    Columns of pandas without any value have no type and become strings, also inside lists and
    structs: Delta could never fill a column of type void. Column comments are kept; lengths and
    defaults that columns inherit from tables are not.

    Args:
        result: What the model returned.
        spark: The session of the run.
        keeps_padding: Keep the length of what Spark fills up with spaces, for SQL that asks for it.
    """
    from pyspark.sql import DataFrame

    if isinstance(result, DataFrame):
        return _unbound(result, keeps_padding)
    if _is_dataframe_of("pyspark.pandas", result):
        return _unbound(_void_as_text(result.spark.frame()), keeps_padding)
    if _is_dataframe_of("pandas", result):
        return _unbound(_from_pandas(result, spark), keeps_padding)
    raise TypeError(
        f"model() returned {type(result).__module__}.{type(result).__qualname__}; "
        "a dbt Python model returns a Spark, pandas-on-Spark or pandas DataFrame"
    )


def write_table(rows: DataFrame, view: str, statements: list[str], features: dict[str, str]) -> None:
    """Run the statements that write a table from the temporary view `view` of the rows.

    Args:
        rows: The result of the model.
        view: The name of the view.
        statements: SQL that reads the view.
        features: SQL to run before them if the rows have a column type, by the name of the type: Delta
            does not replace a table with one that requires another table feature.
    """
    rows.createOrReplaceTempView(view)
    types = [data_type for _, data_type in rows.dtypes]
    needed = [sql for name, sql in features.items() if any(re.search(rf"(^|[<:,]){name}($|[>,])", t) for t in types)]
    try:
        for statement in needed + statements:
            rows.sparkSession.sql(statement)
    finally:
        rows.sparkSession.catalog.dropTempView(view)


def _is_dataframe_of(library: str, result: Any) -> bool:
    # A library that was not imported created no DataFrame, and importing it takes seconds. Nor did one
    # that another thread is still importing, which has no DataFrame yet.
    dataframe = getattr(sys.modules.get(library), "DataFrame", None)
    return dataframe is not None and isinstance(result, dataframe)


def _from_pandas(result: pd.DataFrame, spark: SparkSession) -> DataFrame:
    try:
        return _converted(result, spark)
    except Exception as error:
        for position, name in enumerate(result.columns):
            column = result.iloc[:, [position]]
            try:
                _converted(column, spark)
            except Exception as cause:
                raise ValueError(
                    f"the column `{name}` of the DataFrame that model() returned, of type {column.dtypes.iloc[0]}, "
                    f"cannot be converted: {cause}"
                ) from error
        raise


def _converted(frame: pd.DataFrame, spark: SparkSession) -> DataFrame:
    import pyarrow as pa

    # Arrow knows the types of an empty DataFrame, and its error names a column of mixed types.
    return spark.createDataFrame(_storable(pa.Table.from_pandas(frame, preserve_index=False)))


def _storable(table: pa.Table) -> pa.Table:
    """Cast to the nearest types that Spark and Delta support; untyped columns become strings."""
    import pyarrow as pa

    return table.cast(pa.schema([field.with_type(_storable_type(field.type)) for field in table.schema]))


def _storable_type(type_: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_dictionary(type_):
        return _storable_type(type_.value_type)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return pa.list_(_storable_type(type_.value_type))
    if pa.types.is_map(type_):
        return pa.map_(_storable_type(type_.key_type), _storable_type(type_.item_type))
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_storable_type(field.type)) for field in type_])
    if pa.types.is_timestamp(type_):
        # Spark truncates nanoseconds in local time, which fails for an ambiguous local hour.
        return pa.timestamp("ns" if type_.unit == "ns" else "us", type_.tz and "UTC")
    others = {
        pa.null(): pa.string(),
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
        pa.float16(): pa.float32(),
    }
    return others.get(type_, type_)


def _void_as_text(frame: DataFrame) -> DataFrame:
    """Cast columns of type void to strings, also inside arrays, maps and structs."""
    from delta_scd2.columns import quoted_column

    types = {field.name: (field.dataType, _without_void(field.dataType)) for field in frame.schema}
    casts = {name: quoted_column(name).cast(after) for name, (before, after) in types.items() if before != after}
    # Over Spark Connect, `withColumns` with no columns raises an error.
    return frame.withColumns(casts) if casts else frame


def _without_void(type_: DataType) -> DataType:
    from pyspark.sql import types as T  # noqa: N812

    if isinstance(type_, T.NullType):
        return T.StringType()
    if isinstance(type_, T.ArrayType):
        return T.ArrayType(_without_void(type_.elementType), type_.containsNull)
    if isinstance(type_, T.MapType):
        return T.MapType(_without_void(type_.keyType), _without_void(type_.valueType), type_.valueContainsNull)
    if isinstance(type_, T.StructType):
        fields = [T.StructField(f.name, _without_void(f.dataType), f.nullable, f.metadata) for f in type_]
        return T.StructType(fields)
    return type_


def _unbound(frame: DataFrame, keeps_padding: bool) -> DataFrame:
    """Drop the metadata that columns inherit from tables, except comments and, on request, the length of a char."""
    from delta_scd2.columns import quoted_column

    schema = frame.schema
    names = [name.lower() for name in schema.names]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"model() returned a DataFrame with more than one column named `{'`, `'.join(repeated[:10])}`. Remedy: "
            "rename or drop one of them; a join on the name of its key, as in `a.join(b, 'id')`, keeps the key once"
        )
    kept = [
        {
            key: value
            for key, value in field.metadata.items()
            if key == "comment" or (keeps_padding and key == DECLARED_TYPE and re.search(r"(?<!var)char\(", value))
        }
        for field in schema
    ]
    if kept == [field.metadata for field in schema]:
        return frame
    return frame.select(
        *(
            quoted_column(field.name).alias(field.name, metadata=metadata)
            for field, metadata in zip(schema, kept, strict=True)
        )
    )
