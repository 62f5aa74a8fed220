"""What kind of DataFrame a Python model returned."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import types as T  # noqa: N812

from dbt_spark_session.dataframes import _is_dataframe_of, _storable, _without_void


def test_a_library_that_another_thread_is_importing_made_no_dataframe(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"id": [1]})
    monkeypatch.setitem(sys.modules, "pyspark.pandas", ModuleType("pyspark.pandas"))
    assert not _is_dataframe_of("pyspark.pandas", frame)
    assert _is_dataframe_of("pandas", frame)
    monkeypatch.delitem(sys.modules, "pyspark.pandas")
    assert not _is_dataframe_of("pyspark.pandas", frame)


@pytest.mark.parametrize("of", [pa.list_, pa.large_list, lambda type_: pa.list_(type_, 1)])
def test_lists_of_every_kind_become_lists_of_types_that_are_stored(of: Callable[[pa.DataType], pa.DataType]) -> None:
    untyped = pa.table({"values": pa.array([[None]], of(pa.null())), "bytes": pa.array([[1]], of(pa.uint8()))})
    assert _storable(untyped).schema.types == [pa.list_(pa.string()), pa.list_(pa.int16())]


def test_what_is_void_becomes_text_wherever_it_stands() -> None:
    void = T.StructType([T.StructField("first name", T.NullType()), T.StructField("n", T.IntegerType(), False)])
    text = T.StructType([T.StructField("first name", T.StringType()), T.StructField("n", T.IntegerType(), False)])
    assert _without_void(T.MapType(T.StringType(), T.ArrayType(void))) == T.MapType(T.StringType(), T.ArrayType(text))
    assert _without_void(T.NullType()) == T.StringType()
    assert _without_void(text) == text
