"""Times of pandas become the same times in Spark, whatever their zone and unit; what cannot is refused by column."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from dbt_spark_session import to_spark_dataframe

# Every quarter of an hour around the two changes of the clock, where one hour is shown twice, or not at all.
CHANGES = [datetime(2024, 3, 31, tzinfo=UTC), datetime(2024, 10, 27, tzinfo=UTC)]
TIMES = [change + timedelta(minutes=15 * n) for change in CHANGES for n in range(-8, 16)]
ZONES = ["Europe/Zurich", "America/St_Johns", "Australia/Lord_Howe", "UTC"]


def micros(ts: datetime) -> int:
    """The oracle: whole microseconds since the epoch, in plain integers."""
    since = ts - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * 10**6 + since.microseconds


@pytest.fixture(params=["UTC", "Europe/Zurich"])
def session(spark: SparkSession, request: pytest.FixtureRequest):
    """Spark in two time zones."""
    home = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", home)


def test_zoned_times_are_the_same_moments(session: SparkSession) -> None:
    stamps = pd.Series(pd.to_datetime(TIMES, utc=True))
    columns = {
        f"{zone} {unit}": stamps.dt.as_unit(unit).dt.tz_convert(zone)
        for zone in ZONES
        for unit in ("s", "ms", "us", "ns")
    }
    for zone in ZONES:
        zoned = stamps.dt.as_unit("ns").dt.tz_convert(zone)
        objects = [ts.astimezone(ZoneInfo(zone)) for ts in TIMES]
        columns |= {
            f"{zone} objects": pd.Series(objects, dtype=object),
            f"{zone} stamps": zoned.astype(object),
            f"{zone} arrow": zoned.astype(pd.ArrowDtype(pa.timestamp("ns", zone))),
            f"{zone} category": zoned.astype("category"),
            f"{zone} list": pd.Series([[stamp] for stamp in zoned]),
            f"{zone} struct": pd.Series([{"a": {"b": [stamp]}} for stamp in zoned]),
        }
    frame = to_spark_dataframe(pd.DataFrame(columns), session)
    inner = {"list": "[0]", "struct": ".a.b[0]"}
    found = frame.selectExpr(*(f"unix_micros(`{name}`{inner.get(name.split()[1], '')})" for name in columns)).collect()
    expected = [micros(ts) for ts in TIMES]
    for index, name in enumerate(columns):
        assert [row[index] for row in found] == expected, name


def test_what_is_finer_than_a_microsecond_is_cut_off(session: SparkSession) -> None:
    nanos = np.array([-1, 0, 999, 1000, 1729989000123456789, -1729989000123456789])
    zoned = pd.Series(pd.to_datetime(nanos, utc=True)).dt.tz_convert("Europe/Zurich")
    frame = to_spark_dataframe(pd.DataFrame({"at": zoned}), session)
    assert [row[0] for row in frame.selectExpr("unix_micros(at)").collect()] == [int(n) // 1000 for n in nanos]


def test_missing_and_distant_times(session: SparkSession) -> None:
    distant = datetime(9999, 12, 31, 23, tzinfo=UTC)
    frame = pd.DataFrame(
        {
            "zoned": pd.to_datetime(["2024-10-27 00:30", None], utc=True).tz_convert("Europe/Zurich"),
            "never": pd.Series([pd.NaT, pd.NaT], dtype="datetime64[ns, Europe/Zurich]"),
            "distant": pd.Series([distant, None], dtype=object),
            "seconds": pd.Series(np.array(["9999-12-31", "NaT"], dtype="datetime64[s]")).dt.tz_localize("UTC"),
            "day": pd.Series([date(9999, 12, 31), None], dtype=object),
        }
    )
    result = to_spark_dataframe(frame, session)
    first, second = result.selectExpr(
        "unix_micros(zoned)", "never", "unix_micros(distant)", "year(seconds)", "day"
    ).collect()
    zoned = micros(datetime(2024, 10, 27, 0, 30, tzinfo=UTC))
    assert tuple(first) == (zoned, None, micros(distant), 9999, date(9999, 12, 31))
    assert tuple(second) == (None,) * 5


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(np.array(["300000-01-01"], dtype="datetime64[s]")),
        pd.Series([1, "a"], dtype=object),
        pd.Series([2**70], dtype=object),
        pd.Series([1 + 2j]),
    ],
    ids=["beyond microseconds", "mixed", "too large", "complex"],
)
def test_what_cannot_be_converted_is_refused_by_column(spark: SparkSession, values: pd.Series) -> None:
    with pytest.raises(Exception, match=r"the column `culprit` of the DataFrame that model\(\) returned"):
        to_spark_dataframe(pd.DataFrame({"id": [1] * len(values), "culprit": values}), spark)


def test_two_columns_of_one_name_are_refused(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="more than one column named `id`"):
        to_spark_dataframe(pd.DataFrame({"id": [1], "ID": [2]}), spark)
