"""Values of a Python model's configuration reach its code as what they are, also those that Python prints as calls."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dbt_spark_session.model_code import execute
from harness import PROJECT_YML, DbtProject

# The person's own meaning of the names must neither reach the configuration nor be lost.
MODEL = """
from datetime import datetime

inf = nan = Decimal = "mine"


def model(dbt, session):
    assert datetime(2024, 1, 1).year == 2024 and inf == "mine" and dbt.config.get("absent", 3) == 3
    values = [dbt.config.get("day"), dbt.config.get("moment"), dbt.config.get("zoned"), dbt.config.get("days")]
    return [*values, dbt.config.get("most"), dbt.config.get("text"), dbt.config.get("nothing")]
"""
SCHEMA = """
models:
  - name: dated
    config:
      day: "{{ var('day') }}"
      moment: "{{ var('moment') }}"
      zoned: "{{ var('zoned') }}"
      days: "{{ var('days') }}"
      most: "{{ var('most') }}"
      text: "2024-03-21"
"""
VARIABLES = """
{day: 2024-03-21, moment: 2024-03-21 10:30:00, zoned: 2024-03-21T10:30:00+01:00, most: .inf,
 days: [2024-03-21, {deep: 2024-03-22, none: null}]}
"""


def run(written: str, compiled: str) -> Any:
    """What `model` returns for the code that dbt compiled."""
    seen: list[Any] = []
    execute("tested", Path("tested.py"), written, compiled + "\nseen.append(model(dbtObj(None), None))", {"seen": seen})
    return seen[0]


def test_variables_reach_the_code(tmp_path: Path) -> None:
    project = DbtProject(tmp_path, schema="none")
    project.write({"dbt_project.yml": PROJECT_YML, "models/dated.py": MODEL, "models/dated.yml": SCHEMA})
    result = project.dbt("compile", "--vars", VARIABLES)
    assert result.success, result.exception
    (node,) = [result.node for result in result.result.results if result.node.name == "dated"]
    day, moment, zoned, days, most, text, nothing = run(node.raw_code, node.compiled_code)
    assert day == date(2024, 3, 21)
    assert moment == datetime(2024, 3, 21, 10, 30)
    assert zoned == datetime(2024, 3, 21, 9, 30, tzinfo=UTC)
    assert days == [date(2024, 3, 21), {"deep": date(2024, 3, 22), "none": None}]
    assert (most, text, nothing) == (math.inf, "2024-03-21", None)


@pytest.mark.parametrize(
    "value",
    [
        Decimal("2.50"),
        timedelta(days=1),
        datetime(2024, 3, 21, tzinfo=timezone(timedelta(hours=1))),
        {"a": [date(2024, 3, 21), None, True, 1.5, -math.inf, "datetime.date(1, 1, 1)"]},
    ],
)
def test_what_python_prints_of_a_value_is_the_value(value: Any) -> None:
    written = "from datetime import datetime\n\ndef model(dbt, session):\n    return config_dict['value']\n"
    compiled = f"{written}\nconfig_dict = {{'value': {value!r}}}\nmeta_dict = {{'value': {value!r}}}\ndbtObj = print\n"
    assert run(written, compiled) == value
