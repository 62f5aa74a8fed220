"""What kind of DataFrame a Python model returned."""

from __future__ import annotations

import sys
from types import ModuleType

import pandas as pd
import pytest

from dbt_spark_session.dataframes import _is_dataframe_of


def test_a_library_that_another_thread_is_importing_made_no_dataframe(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"id": [1]})
    monkeypatch.setitem(sys.modules, "pyspark.pandas", ModuleType("pyspark.pandas"))
    assert not _is_dataframe_of("pyspark.pandas", frame)
    assert _is_dataframe_of("pandas", frame)
    monkeypatch.delitem(sys.modules, "pyspark.pandas")
    assert not _is_dataframe_of("pyspark.pandas", frame)
