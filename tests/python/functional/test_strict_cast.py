"""`strict_cast` casts what can be cast, and never turns a value into null."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest
from pyspark.errors import PySparkException

from harness import DbtProject, tuples

# Type, text, and what the text becomes.
GOOD: list[tuple[str, str, object]] = [
    ("int", " 12 ", 12),
    ("int", "-2147483648", -(2**31)),
    ("bigint", "9007199254740993", 2**53 + 1),
    ("decimal(5, 2)", "999.99", Decimal("999.99")),
    ("decimal(5, 2)", "1.005", Decimal("1.01")),
    ("decimal(38, 0)", "12345678901234567890123456789012345678", Decimal("12345678901234567890123456789012345678")),
    ("double", "1e-3", 0.001),
    ("double", "-Infinity", float("-inf")),
    ("boolean", "true", True),
    ("boolean", "N", False),
    ("date", "2024-02-29", date(2024, 2, 29)),
    ("string", "", ""),
]

# Type, and a text that is no value of it.
BAD: list[tuple[str, str]] = [
    ("int", ""),
    ("int", "1.5"),
    ("int", "2147483648"),
    ("bigint", "9223372036854775808"),
    ("bigint", "it's"),
    ("decimal(5, 2)", "1000"),
    ("decimal(5, 2)", "999.995"),
    ("double", "1,5"),
    ("boolean", "maybe"),
    ("date", "2024-02-30"),
    ("date", "29.02.2024"),
    ("timestamp", "2024-02-29 25:00:00"),
]

CAST = '{{ delta_scd2.strict_cast("%s", "%s") }}'


def view(sql: str, raw: str) -> str:
    return f"""{{{{ config(materialized='view') }}}}\nselect {sql} as v from values ("{raw}") as t (raw)\n"""


@pytest.fixture(scope="module")
def casts(make_project: Callable[..., DbtProject]) -> DbtProject:
    good = ", ".join(CAST % (f"'{raw}'", kind) + f" as c{i}" for i, (kind, raw, _) in enumerate(GOOD))
    project = make_project(
        {
            "models/good.sql": "{{ config(materialized='table') }}\nselect " + good,
            "models/moment.sql": view(f"unix_micros({CAST % ('raw', 'timestamp')})", "1970-01-01 00:00:01.000001"),
            "models/nothing.sql": view(CAST % ("nullif(raw, '')", "int"), ""),
            "models/number.sql": view(CAST % ("double(raw)", "int"), "NaN"),
            "models/used.sql": view(f"1 + {CAST % ('raw', 'int')}", "41"),
            **{f"models/bad_{i}.sql": view(CAST % ("raw", kind), raw) for i, (kind, raw) in enumerate(BAD)},
        }
    )
    project.succeed("run")
    return project


def test_values_arrive_with_their_type(casts: DbtProject) -> None:
    assert list(casts.sql("select * from {schema}.good")[0]) == [value for _, _, value in GOOD]
    stored = [row["data_type"] for row in casts.sql("describe {schema}.good")]
    assert stored == [kind.replace(", ", ",") for kind, _, _ in GOOD]


def test_the_result_is_an_expression_like_any_other(casts: DbtProject) -> None:
    assert tuples(casts.sql("select v from {schema}.used")) == [(42,)]
    assert tuples(casts.sql("select v from {schema}.moment")) == [(1_000_001,)]


def test_null_stays_null(casts: DbtProject) -> None:
    assert tuples(casts.sql("select v from {schema}.nothing")) == [(None,)]


@pytest.mark.parametrize("case", range(len(BAD)), ids=[f"{raw!r} as {kind}" for kind, raw in BAD])
def test_a_value_that_cannot_be_cast_is_an_error(casts: DbtProject, case: int) -> None:
    kind, raw = BAD[case]
    with pytest.raises(PySparkException) as caught:
        casts.sql(f"select v from {{schema}}.bad_{case}")
    assert f"cannot cast raw to {kind}: {raw}" in str(caught.value)


def test_the_message_quotes_the_expression(casts: DbtProject) -> None:
    with pytest.raises(PySparkException) as caught:
        casts.sql("select v from {schema}.number")
    assert "cannot cast double(raw) to int: NaN" in str(caught.value)
