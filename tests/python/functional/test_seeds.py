"""`dbt seed` keeps what the file says, or fails and says which cell it cannot keep."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import jinja2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from harness import ROOT, DbtProject, tuples

HARD = r'''id,text,code,whole,beyond_bigint,exact,ratio,beyond_double,flag,day,moment,instant
1,"O'Brien said ""no""",007,9007199254740993,18446744073709551616,0.1000000000,0.1,12345678901234567.89,true,2024-02-29,2024-02-29 23:59:59.123456,2024-02-29T23:59:59.123456
2,"C:\new\table\'; drop table x --\",1e5,-9223372036854775808,-1,-123456789012345678.0123456789,-2.5e-3,0.1,false,0001-01-01,1969-12-31 23:59:59.999999,2024-03-31T02:30:00+02:00
3,"two
lines<CR>
and <CR> a fourth	tab",000,9223372036854775807,0,0,1e300,3,TRUE,9999-12-31,9999-12-31 00:00:00,2024-01-01T00:00:00Z
4,"50% of %s, ${env:HOME}, ${nothing}, $${x}, {{ 1 }}, /* ; */ :a ?",,0,,7,-0.0,,False,,,
5,日本語 ñ — 😀👩‍🚀,"",,1,,,,,2024-01-01,2024-06-30 12:00:00+05:30,
6,"  spaces, and a comma  "," 7",1,2,1,16777217.5,1,true,,2024-06-30T12:00:00.000001Z,
7,"",x,,,,,,,,,
8,,x,,,,,,,,,
9,null,   ,NULL,Null,null,null,null,null,null,null,null
10,\,'',,,,,,,,,
'''.replace("<CR>", "\r")  # noqa: E501


def instant(cell: str) -> int:
    """Microseconds since 1970; a time without a zone is in the session's, UTC."""
    moment = datetime.fromisoformat(cell)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def text(cell: str) -> str:
    """dbt opens the file as text, which makes every line end a line feed."""
    return re.sub("\r\n?", "\n", cell)


COLUMNS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "id": ("bigint", int),
    "text": ("string", text),
    "code": ("string", text),
    "whole": ("bigint", int),
    "beyond_bigint": ("decimal(38,0)", Decimal),
    "exact": ("decimal(38,10)", Decimal),
    "ratio": ("double", float),
    "beyond_double": ("decimal(38,2)", Decimal),
    "flag": ("boolean", lambda cell: cell.lower() == "true"),
    "day": ("date", date.fromisoformat),
    "moment": ("timestamp", instant),
    "instant": ("timestamp", instant),
}

FILES = {
    "seeds/_seeds.yml": """
version: 2
seeds:
  - name: hard
    config: {column_types: {code: string, exact: "decimal(38, 10)", moment: timestamp}}
  - name: names
    config: {quote_columns: true}
  - name: plain_names
    config: {quote_columns: false, column_types: {amount: "decimal(4, 1)"}}
  - name: only_header
    config: {column_types: {code: string}}
  - name: spoiled
    config: {column_types: {amount: int}}
""",
    "seeds/hard.csv": HARD,
    "seeds/names.csv": "unit-price,from\n1,x\n",
    "seeds/plain_names.csv": "id,amount\n1,2.30\n2,\n",
    "seeds/only_header.csv": "id,code\n",
    "seeds/many.csv": "id,name\n" + "".join(f"{i},name {i}\n" for i in range(10_001)),
    "seeds/spoiled.csv": "id,amount\n1,10\n",
}


@pytest.fixture(scope="module")
def seeded(make_project: Callable[..., DbtProject]) -> DbtProject:
    project = make_project(FILES)
    project.succeed("seed")
    return project


def types(project: DbtProject, table: str) -> list[tuple[str, str]]:
    return [(row["col_name"], row["data_type"]) for row in project.sql(f"describe {{schema}}.{table}")]


def test_every_value_is_the_one_in_the_file(seeded: DbtProject) -> None:
    cells = list(csv.DictReader(io.StringIO(HARD, newline="")))
    expected = [
        tuple(
            None if row[name].strip().lower() in ("", "null") else value(row[name])
            for name, (_, value) in COLUMNS.items()
        )
        for row in cells
    ]
    read = [f"unix_micros({name})" if kind == "timestamp" else name for name, (kind, _) in COLUMNS.items()]
    actual = tuples(seeded.sql(f"select {', '.join(read)} from {{schema}}.hard order by id"))

    assert types(seeded, "hard") == [(name, kind) for name, (kind, _) in COLUMNS.items()]
    assert len(actual) == 10
    for actual_row, expected_row in zip(actual, expected, strict=True):
        assert actual_row == expected_row


def test_some_values_typed_by_hand(seeded: DbtProject) -> None:
    rows = seeded.sql("select *, cast(moment as string) as moment_text from {schema}.hard order by id")
    assert rows[0]["text"] == 'O\'Brien said "no"'
    assert rows[0]["code"] == "007"
    assert rows[0]["whole"] == 2**53 + 1
    assert rows[0]["beyond_double"] == Decimal("12345678901234567.89")
    assert rows[0]["moment_text"] == "2024-02-29 23:59:59.123456"
    assert rows[1]["text"] == "C:\\new\\table\\'; drop table x --\\"
    assert rows[1]["exact"] == Decimal("-123456789012345678.0123456789")
    assert rows[2]["text"] == "two\nlines\nand \n a fourth\ttab"
    assert rows[3]["text"] == "50% of %s, ${env:HOME}, ${nothing}, $${x}, {{ 1 }}, /* ; */ :a ?"
    assert rows[4]["text"] == "日本語 ñ — 😀👩‍🚀"
    assert rows[4]["moment_text"] == "2024-06-30 06:30:00"
    assert [row["text"] for row in rows[6:9]] == [None, None, None]
    assert rows[9]["text"] == "\\"


def test_column_names_and_types_follow_the_configuration(seeded: DbtProject) -> None:
    assert types(seeded, "names") == [("unit-price", "bigint"), ("from", "string")]
    assert types(seeded, "plain_names") == [("id", "bigint"), ("amount", "decimal(4,1)")]
    assert tuples(seeded.sql("select * from {schema}.plain_names order by id")) == [(1, Decimal("2.3")), (2, None)]


def test_a_header_alone_makes_an_empty_table(seeded: DbtProject) -> None:
    assert types(seeded, "only_header") == [("id", "bigint"), ("code", "string")]
    assert seeded.sql("select * from {schema}.only_header") == []


def test_more_rows_than_a_batch(seeded: DbtProject) -> None:
    query = "select count(*), count(distinct id), max(id), min_by(name, -id) from {schema}.many"
    assert tuples(seeded.sql(query)) == [(10_001, 10_001, 10_000, "name 10000")]


def test_a_seed_again_replaces_its_rows(seeded: DbtProject) -> None:
    before = seeded.version("names")
    seeded.write({"seeds/names.csv": "unit-price,from\n2,y\n"})
    seeded.succeed("seed", "--select", "names")
    assert tuples(seeded.sql("select * from {schema}.names")) == [(2, "y")]
    assert seeded.version("names") == before + 1

    seeded.write({"seeds/names.csv": "from,note\nz,1.5\n"})
    seeded.succeed("seed", "--select", "names", "--full-refresh")
    assert types(seeded, "names") == [("from", "string"), ("note", "double")]
    assert tuples(seeded.sql("select * from {schema}.names")) == [("z", 1.5)]


def test_a_seed_again_may_have_a_type_that_the_table_does_not_support_yet(make_project) -> None:
    types_of = "seeds: [{{name: times, config: {{column_types: {{at: {}}}}}}}]"
    project = make_project(
        {"seeds/times.csv": "at\n2024-01-01 12:00:00\n", "seeds/_s.yml": types_of.format("timestamp")}
    )
    project.succeed("seed")
    project.write({"seeds/_s.yml": types_of.format("TIMESTAMP_NTZ")})
    project.succeed("seed")
    assert types(project, "times") == [("at", "timestamp_ntz")]
    assert tuples(project.sql("select * from {schema}.times")) == [(datetime(2024, 1, 1, 12),)]


def test_a_cell_that_does_not_fit_fails_the_seed_and_changes_nothing(seeded: DbtProject) -> None:
    seeded.write(
        {
            "seeds/spoiled.csv": "id,amount\n1,10\n2,twelve\n",
            "seeds/new_and_spoiled.csv": "id,day\n1,2024-01-31\n2,2024-02-30\n",
            "seeds/new_and_spoiled.yml": "seeds: [{name: new_and_spoiled, config: {column_types: {day: date}}}]",
            "seeds/cents.csv": "id,amount\n1,2.5\n2,2.255\n",
            "seeds/cents.yml": "seeds: [{name: cents, config: {column_types: {amount: 'decimal(10, 2)'}}}]",
            "seeds/too_long.csv": "id\n123456789012345678901234567890\n",
        }
    )
    messages = seeded.fail("seed", "--select", "spoiled", "new_and_spoiled", "cents", "too_long")
    remedy = "Remedy: fix the value at the source, or choose a type that can hold it."
    assert f"cannot cast column amount of seed spoiled to int: twelve. {remedy}" in messages
    assert f"cannot cast column amount of seed cents to decimal(10, 2): 2.255. {remedy}" in messages
    assert "cannot cast column day of seed new_and_spoiled to date: 2024-02-30" in messages
    assert "column id of seed too_long: dbt reads at most 28 digits" in messages
    assert tuples(seeded.sql("select * from {schema}.spoiled")) == [(1, 10)]
    assert tuples(seeded.sql("show tables in {schema} like '*new_and_spoiled*|too_long|cents'")) == []

    seeded.write({"seeds/new_and_spoiled.csv": "id,day\n1,2024-01-31\n2,\n"})
    seeded.succeed("seed", "--select", "new_and_spoiled")
    rows = tuples(seeded.sql("select * from {schema}.new_and_spoiled order by id"))
    assert rows == [(1, date(2024, 1, 31)), (2, None)]


any_text = st.text(st.characters(codec="utf-8"), max_size=20)
quotes_and_escapes = ["'", '"', "`", "\\", "n", "u0041", "%", "_", "\n", "\r", "\t", "\0"]
hostile_pieces = [*quotes_and_escapes, "$", "${", "}", "env:HOME", ";", "--", "/*", " ", "😀"]
hostile_text = st.lists(st.sampled_from(hostile_pieces), max_size=8).map("".join)


# Without shrinking: the wrong values themselves are the message.
@settings(max_examples=10, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(values=st.lists(any_text | hostile_text, min_size=100, max_size=200))
def test_a_literal_is_the_text_it_was_made_of(spark: SparkSession, values: list[str]) -> None:
    macros = jinja2.Environment().from_string((ROOT / "macros" / "lib" / "literals.sql").read_text()).module  # noqa: S701
    literals = [macros.sql_string(value) for value in values]
    read = spark.sql(f"select {', '.join(literals)}").collect()[0]
    assert [(value, other) for value, other in zip(values, read, strict=True) if value != other] == []
