"""`strict_cast` casts what can be cast, and never turns a value into null."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation, localcontext

import pytest
from pyspark.errors import PySparkException

from harness import DbtProject, tuples

# Type, text, and what the text becomes.
GOOD: list[tuple[str, str, object]] = [
    ("int", " 12 ", 12),
    ("int", "-2147483648", -(2**31)),
    ("bigint", "9007199254740993", 2**53 + 1),
    ("decimal(5, 2)", "999.99", Decimal("999.99")),
    ("decimal(5, 2)", " 1.0100 ", Decimal("1.01")),
    ("decimal(5, 2)", "1.5e-1", Decimal("0.15")),
    ("decimal(38, 0)", "12345678901234567890123456789012345678", Decimal("12345678901234567890123456789012345678")),
    ("double", "1e-3", 0.001),
    ("double", "-Infinity", float("-inf")),
    ("boolean", "true", True),
    ("boolean", "N", False),
    ("date", "2024-02-29", date(2024, 2, 29)),
    ("string", "", ""),
]

# Type, and a text that it cannot hold.
BAD: list[tuple[str, str]] = [
    ("int", ""),
    ("int", "1.5"),
    ("int", "2147483648"),
    ("bigint", "9223372036854775808"),
    ("bigint", "it's"),
    ("decimal(5, 2)", "1000"),
    ("decimal(5, 2)", "999.995"),
    ("decimal(5, 2)", "1.005"),
    ("decimal(5, 2)", "1.505e0"),
    ("decimal", "0.5"),
    ("double", "1,5"),
    ("boolean", "maybe"),
    ("date", "2024-02-30"),
    ("date", "29.02.2024"),
    ("timestamp", "2024-02-29 25:00:00"),
]

CAST = '{{ delta_scd2.strict_cast("%s", "%s") }}'
ROUNDED = '{{ delta_scd2.strict_cast("raw", "decimal(5, 2)", rounds=true) }}'

# Precision and scale of decimals, and texts of many shapes to cast to each of them.
DECIMALS = [(12, 2), (5, 2), (10, 0), (38, 10), (38, 38), (6, 5)]
NUMBERS = """
1200.755 1200.75 1200.750 0.1 0.10000000000000000000000001 999.99 999.995 1000 0.000001 00012.3400 .5 5. 0 0.000 123456
12345678901234567890.1234567891 12345678901234567890.12345678911 0.00000000000000000000000000000000000001 10000000000000
999999999999999999999999999999999999999 1.2345e2 1.23456e2 9.999e-07 1.5E+3 100e-2 105e-2 1.005e0 0e-9 1e11 1e40
abc 1,5 1.2.3 e5
"""
TEXTS = ["", *(text for number in NUMBERS.split() for text in (number, f"-{number}", f" +{number}\n"))]
# What the casts return, or the message in place of the error.
SAID = """
select raw, {%- for precision, scale in <decimals> %}
    {%- set type = 'decimal(' ~ precision ~ ', ' ~ scale ~ ')' %}
    {{ delta_scd2.strict_cast('raw', type) | replace('raise_error(', 'concat(') }}
    {{- ' as d' ~ loop.index0 ~ (',' if not loop.last else '') }}
{%- endfor %}
from {{ target.schema }}.texts
"""


def held(text: str, precision: int, scale: int) -> Decimal | None:
    """What a decimal of this precision and scale holds of a text, unless it cannot hold all of it."""
    with localcontext(prec=100):
        try:
            value = Decimal(text.strip())
        except InvalidOperation:
            return None
        whole = value.scaleb(scale)
        return value if whole == whole.to_integral_value() and abs(whole) < 10**precision else None


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
            "models/rounded.sql": view(f"{ROUNDED} as w, {CAST % ('double(raw)', 'decimal(5, 2)')}", "1.005"),
            "models/said.sql": SAID.replace("<decimals>", str(DECIMALS)),
            "models/number.sql": view(CAST % ("double(raw)", "int"), "NaN"),
            "models/used.sql": view(f"1 + {CAST % ('raw', 'int')}", "41"),
            **{f"models/bad_{i}.sql": view(CAST % ("raw", kind), raw) for i, (kind, raw) in enumerate(BAD)},
        }
    )
    project.load("texts", "raw string", [(text,) for text in TEXTS])
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
    message = str(caught.value)
    assert f"bad_{case}: cannot cast raw to {kind}: {raw}. Remedy: fix the value at the source" in message
    assert ("round it with `rounds=true`" in message) == kind.startswith("decimal")
    found = re.search("`(where [^`]*)` finds its rows", message)
    assert found is not None
    assert tuples(casts.sql(f'select raw from values ("{raw}"), ("other") as t (raw) {found[1]}')) == [(raw,)]


def test_a_text_is_cast_whole_or_not_at_all(casts: DbtProject) -> None:
    wrong = []
    for raw, *cast_values in casts.sql("select * from {schema}.said"):
        for (precision, scale), value in zip(DECIMALS, cast_values, strict=True):
            expected = held(raw, precision, scale)
            refused = value.startswith(f"said: cannot cast raw to decimal({precision}, {scale}): {raw}. Remedy: ")
            if refused != (expected is None) or not (refused or Decimal(value) == expected):
                wrong.append((raw, precision, scale, value))
    assert wrong == []


def test_numbers_are_rounded_and_texts_where_that_is_asked_for(casts: DbtProject) -> None:
    (row,) = casts.sql("select * from {schema}.rounded")
    assert tuple(row) == (Decimal("1.01"), Decimal("1.01"))


def test_the_message_quotes_the_expression(casts: DbtProject) -> None:
    with pytest.raises(PySparkException) as caught:
        casts.sql("select v from {schema}.number")
    message = str(caught.value)
    assert (
        "number: cannot cast double(raw) to int: NaN. Remedy: fix the value at the source, or choose a type that"
        in message
    )
    assert "finds its rows" not in message
