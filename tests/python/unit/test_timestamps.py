"""Times as people write them mean the same in SQL and in Python, and what is none is none in both."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml
from stubbed_spark import SCHEMA, StubbedSpark
from test_golden_sql import case, compared, dimension, model

from delta_scd2.timestamps import utc_timestamp
from harness import PROJECT_YML, DbtProject, micros

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

MACROS = """
{% macro print_micros(texts) %}
    {%- set found = [] -%}
    {%- for text in texts -%}
        {%- do found.append(delta_scd2.ts_micros(text)) -%}
    {%- endfor -%}
    {%- do print('micros ' ~ tojson(found)) -%}
{% endmacro %}

{% macro print_as_of(times) %}
    {%- for ts in times -%}
        {%- set query = delta_scd2.as_of('d', ts, options={'unique_key': 'id'}) -%}
        {%- do print('as_of ' ~ query.split('`effective_to`')[1]) -%}
    {%- endfor -%}
{% endmacro %}
"""

# Each with the same time as Python's own parser reads it.
WRITTEN = {
    "2024-03-21": "2024-03-21T00:00:00+00:00",
    "20240321": "2024-03-21T00:00:00+00:00",
    " 2024-03-21 ": "2024-03-21T00:00:00+00:00",
    "2024-03-21T00:00:00": "2024-03-21T00:00:00+00:00",
    "2024-03-21T00:00:00Z": "2024-03-21T00:00:00+00:00",
    "2024-03-21t00:00:00z": "2024-03-21T00:00:00+00:00",
    "2024-03-21 00:00:00 Z": "2024-03-21T00:00:00+00:00",
    "2024-03-21 10": "2024-03-21T10:00:00+00:00",
    "2024-03-21 10:30": "2024-03-21T10:30:00+00:00",
    "20240321T103059Z": "2024-03-21T10:30:59+00:00",
    "2024-03-21T10:30:59.5": "2024-03-21T10:30:59.500000+00:00",
    "2024-03-21T10:30:59,000001": "2024-03-21T10:30:59.000001+00:00",
    "2024-03-21T10:30:59.123456000Z": "2024-03-21T10:30:59.123456+00:00",
    "2024-03-21T00:30:00+01:00": "2024-03-20T23:30:00+00:00",
    "2024-03-21T00:30:00+0100": "2024-03-20T23:30:00+00:00",
    "2024-03-21T00:30:00 -05": "2024-03-21T05:30:00+00:00",
    "2024-12-31T23:59:59.999999-05:30": "2025-01-01T05:29:59.999999+00:00",
    "2024-02-29": "2024-02-29T00:00:00+00:00",
    "1600-02-29": "1600-02-29T00:00:00+00:00",
    "1969-12-31T23:59:59.999999": "1969-12-31T23:59:59.999999+00:00",
    "0001-01-01": "0001-01-01T00:00:00+00:00",
    "9999-12-31 23:59:59.999999": "9999-12-31T23:59:59.999999+00:00",
    "0001-01-01T00:00:00-01:00": "0001-01-01T01:00:00+00:00",
}
NO_TIMES = [
    "", "now", "2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00", "0000-01-01",
    "24-01-01", "2024-1-1", "2024-0101", "202401-01", "2024-01-01T24:00:00", "2024-01-01T23:60:00",
    "2024-01-01T23:59:60", "2024-01-01T", "2024-01-01X10:00", "2024-01-01T10:3000", "2024-01-01T1030:00",
    "2024-01-01T10:00:00.", "2024-01-01T10:00:00.1234567", "2024-01-01Z", "2024-01-01T10:00+24:00",
    "2024-01-01T10:00+01:60", "2024-01-01T10:00 UTC", "2024-W01-1", "٢٠٢٤-01-01", "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:00:00-01:00", "2024-01-01T10:00:00+01:00:00", "None", "True", "1", "12.5",
]  # fmt: skip
# What YAML makes a date or a datetime of, as `--vars` and a model's YAML do.
OF_YAML = ["2024-03-21", "2024-03-21T00:30:00", "2024-03-21T00:30:00Z", "2024-03-21T00:30:00.5+01:00", "20240321"]


def written_at_random(count: int) -> dict[str, datetime]:
    """Times in forms that Python's own parser knows as well."""
    chance = random.Random(7)
    texts = {}
    for _ in range(count):
        zone = timezone(timedelta(minutes=chance.randint(-1439, 1439)))
        ts = EPOCH + timedelta(microseconds=chance.randint(-(10**16), 10**17))
        local = ts.astimezone(chance.choice([UTC, zone]))
        text = local.isoformat(chance.choice([" ", "T"]), chance.choice(["auto", "microseconds"]))
        text = text.replace("+00:00", chance.choice(["", "Z", "+00:00", "+00"]))
        texts[text] = ts
    return texts


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    project = DbtProject(tmp_path, schema="none")
    project.write({"macros/timestamps.sql": MACROS, "dbt_project.yml": PROJECT_YML})

    def invoke(macro: str, **arguments: object) -> list[str]:
        result = project.dbt("run-operation", macro, "--args", yaml.safe_dump(arguments, allow_unicode=True))
        assert result.success, result.exception
        return capsys.readouterr().out.splitlines()

    return invoke


def test_sql_and_python_read_the_same_times(run: Callable[..., list[str]]) -> None:
    random_times = written_at_random(200)
    of_yaml = yaml.safe_load(f"[{', '.join(OF_YAML)}]")
    texts = [*WRITTEN, *NO_TIMES, *random_times, *of_yaml]
    (printed,) = [line for line in run("print_micros", texts=texts) if line.startswith("micros ")]
    in_sql = dict(zip(map(str, texts), json.loads(printed.removeprefix("micros ")), strict=True))

    expected = {text: datetime.fromisoformat(same) for text, same in WRITTEN.items()} | random_times
    for text, ts in expected.items():
        assert utc_timestamp(text) == ts, text
        assert in_sql[text] == micros(ts), text
    for text in NO_TIMES:
        assert in_sql[text] is None, text
        with pytest.raises(ValueError, match="is not a time: write it like"):
            utc_timestamp(text)
    with pytest.raises(ValueError, match="is not a time: write it like"):
        utc_timestamp(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))))
    for text, value in zip(OF_YAML, of_yaml, strict=True):
        assert in_sql[str(value)] == micros(utc_timestamp(text)), text
        if isinstance(value, date):
            assert utc_timestamp(value) == utc_timestamp(text)


def test_as_of_takes_a_time_or_an_expression(run: Callable[..., list[str]]) -> None:
    times = ["2024-03-21T00:30:00+01:00", date(2024, 3, 21), "current_timestamp()", "day"]
    printed = [line for line in run("print_as_of", times=times) if line.startswith("as_of ")]
    assert [line.removeprefix("as_of  > ").removesuffix(" or ") for line in printed] == [
        "timestamp '2024-03-20 23:30:00+00:00'",
        "timestamp '2024-03-21 00:00:00+00:00'",
        "current_timestamp()",
        "day",
    ]


def test_an_open_end_may_be_written_in_another_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_ends = {
        "as_before": "9999-12-31",
        "as_a_time": "9999-12-31T00:00:00Z",
        "with_an_offset": "9999-12-31 02:00+02:00",
        "another": "9999-12-30",
        "no_time": "9999-12-32",
    }
    cases = {
        name: case(model(open_end=text), dimension(name), compared=compared(3)) for name, text in open_ends.items()
    }
    project = DbtProject(tmp_path, SCHEMA)
    project.write(
        {"dbt_project.yml": PROJECT_YML, **{f"models/{name}.sql": case.model for name, case in cases.items()}}
    )
    spark = StubbedSpark(cases)
    spark.install(monkeypatch)
    results = {result.node.name: str(result.message) for result in project.dbt("run").result.results}

    assert "`open_end` was `9999-12-31` when" in results.pop("another")
    assert "`open_end` is `9999-12-32`, expected null or a UTC timestamp" in results.pop("no_time")
    for name, message in results.items():
        assert message.startswith("MERGE"), message
        assert statements(spark, name) == statements(spark, "as_before")


def statements(spark: StubbedSpark, name: str) -> str:
    """The statements of a case without its name, and without the hashes of it that end the names of views."""
    return re.sub("_[0-9a-f]{12}([0-9a-f]{20})?\\b", "", "\n".join(spark.statements[name]).replace(name, "dimension"))
