"""At every time, a combined history has what each of its sides has then, in the macro and in its Python twin."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from delta_scd2 import History, combine_histories
from harness import DbtProject

DAYS = [datetime(2024, 1, day, tzinfo=UTC) for day in range(1, 7)]
OPEN = datetime(9999, 12, 31, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
TIMES = [day + beside for day in DAYS for beside in (-MICROSECOND, timedelta(0), MICROSECOND)]
KEYS = [*((area, number) for area in ("EU", "US") for number in range(40)), (None, None)]

# How each side stores its versions: the options of the macro, and those of the Python twin.
NAMES = {"effective_from": "valid-from", "effective_to": "valid-`to`", "is_deleted": "gone"}
SIDES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({"unique_key": ["area", "number"]}, {}),
    "closed": (
        {"closing_gap": "1 millisecond", "open_end": None},
        {"closing_gap": timedelta(milliseconds=1), "open_end": None},
    ),
    "recorded": (
        {"hard_deletes": "new_record", "flag_values": ["Y", "N"], "scd2_columns": NAMES, "open_end": "2999-12-31"},
        {"hard_deletes": "new_record", "flag_values": ["Y", "N"], "open_end": datetime(2999, 12, 31), **NAMES},
    ),
    "daily": ({"closing_gap": "1 day"}, {"closing_gap": timedelta(days=1)}),
}
# A version: its number, the column that always changes, and one that may stay the same.
Version = tuple[int, str, int | None]
# The sides, what a missing one means, and whether the columns that always change are left out.
CASES = {
    "any_of_two": (["plain", "closed"], "any", False),
    "all_of_three": (["closed", "recorded", "daily"], "all", False),
    "first_of_four": (["recorded", "daily", "plain", "closed"], "first", False),
    "any_of_four_merged": ([*SIDES], "any", True),
    "all_of_two_merged": (["daily", "recorded"], "all", True),
    "first_of_three_merged": (["closed", "plain", "recorded"], "first", True),
}


def random_history(side: str, key: tuple[Any, Any], draw: random.Random) -> list[tuple[datetime, datetime, Version]]:
    """The versions of one key, each with its true end."""
    if key == (None, None):
        return [(datetime(1900, 1, 1, tzinfo=UTC), OPEN, (0, side, None))] if side != "daily" else []
    starts = sorted(draw.sample(DAYS, draw.randint(0, len(DAYS))))
    return [
        (start, end, (number, f"{side} {number}", draw.choice([None, 1, 1])))
        for number, (start, end) in enumerate(itertools.pairwise([*starts, OPEN]))
        # A span without a version: the key was deleted.
        if draw.random() < 0.7
    ]


def stored(side: str, histories: dict[tuple[Any, Any], list[tuple[datetime, datetime, Version]]]) -> list[tuple]:
    options = SIDES[side][1]
    gap, open_end = options.get("closing_gap", timedelta(0)), options.get("open_end", OPEN)
    rows = []
    for key, history in histories.items():
        followings = [start for start, _, _ in history[1:]] + [OPEN]
        for (start, end, version), following in zip(history, followings, strict=False):
            rows.append((*key, start, open_end if end == OPEN else end - gap, "N", *version))
            if side == "recorded" and end < following:
                rows.append((*key, end, open_end if following == OPEN else following, "Y", *version))
    return rows


def kept(side: str, is_merged: bool) -> dict[str, str]:
    columns = {"note": f"note-of-{side}"}
    return columns if is_merged else {"no-of": f"no-of-{side}", "value": f"{side}", **columns}


@pytest.fixture(scope="module")
def histories() -> dict[str, dict[tuple[Any, Any], list[tuple[datetime, datetime, Version]]]]:
    draw = random.Random(1)
    return {side: {key: random_history(side, key, draw) for key in KEYS} for side in SIDES}


@pytest.fixture(scope="module")
def project(make_project, histories) -> DbtProject:
    models = {}
    for name, (sides, require, is_merged) in CASES.items():
        options = {f"t_{side}": SIDES[side][0] for side in sides}
        columns = {f"t_{side}": kept(side, is_merged) for side in sides}
        reads = ",\n".join(f"t_{side} as (select * from {{{{ target.schema }}}}.{side})" for side in sides)
        arguments = f"{[*options]}, keys=['area', 'number'], require='{require}', columns={columns}, options={options}"
        models[f"models/{name}.sql"] = (
            f"{{{{ config(materialized='view') }}}}\nwith {reads}\n"
            f"select * from ({{{{ delta_scd2.combine_histories({arguments.replace('None', 'none')}) }}}})"
        )
    project = make_project(models)
    for side in SIDES:
        names = SIDES[side][1] if side == "recorded" else {}
        start, end, flag = (
            "`" + names.get(role, role).replace("`", "``") + "`"
            for role in ("effective_from", "effective_to", "is_deleted")
        )
        ddl = f"area string, number int, {start} timestamp, {end} timestamp, {flag} string, "
        project.load(side, ddl + "`no-of` int, value string, note int", stored(side, histories[side]))
    project.succeed("run")
    return project


def state_at(history: list[tuple[datetime, datetime, Version]], at: datetime) -> Version | None:
    return next((version for start, end, version in history if start <= at < end), None)


@pytest.mark.parametrize("case", CASES)
def test_a_combined_history_is_the_join_of_its_sides_at_every_time(
    project: DbtProject, histories, spark: SparkSession, case: str
) -> None:
    sides, require, is_merged = CASES[case]
    twin = combine_histories(
        [History(spark.table(f"{project.schema}.{side}"), kept(side, is_merged), **SIDES[side][1]) for side in sides],
        ["area", "number"],
        require=require,
    )
    rows = project.sql(f"select * from {{schema}}.{case}")
    assert twin.columns == [*rows[0].asDict()]
    assert sorted(map(repr, twin.collect())) == sorted(map(repr, rows))
    check_times(rows, {side: histories[side] for side in sides}, require, is_merged)
    check_spans(rows)


def check_times(rows: list[Row], sides, require: str, is_merged: bool) -> None:
    by_key: dict[tuple[Any, Any], list[Row]] = {key: [] for key in KEYS}
    for row in rows:
        by_key[row.area, row.number].append(row)
    seen = set()
    for key, at in itertools.product(KEYS, [*TIMES, OPEN - MICROSECOND]):
        states = [state_at(history[key], at) for history in sides.values()]
        there = [state is not None for state in states]
        is_there = {"any": any(there), "all": all(there), "first": there[0]}[require]
        expected = [tuple(value for state in states for value in flattened(state, is_merged))] if is_there else []
        found = [tuple(row[4:]) for row in by_key[key] if is_valid(row, at)]
        assert found == expected, (key, at)
        seen.add(tuple(there))
    assert len(seen) == 2 ** len(sides)


def flattened(state: Version | None, is_merged: bool) -> tuple[Any, ...]:
    version = state or (None, None, None)
    return version[2:] if is_merged else version


def is_valid(row: Row, at: datetime) -> bool:
    start, end = row[2].replace(tzinfo=UTC), row[3].replace(tzinfo=UTC) if row[3] else OPEN
    return start <= at < (OPEN if end.year == 2999 else end)


def check_spans(rows: list[Row]) -> None:
    """Spans have a length and do not overlap; neighbours differ."""
    ordered = sorted(rows, key=lambda row: (row.area or "", row.number or 0, row[2]))
    for row, following in itertools.pairwise(ordered):
        assert row[3] is None or row[2] < row[3]
        if row[:2] == following[:2]:
            assert row[3] <= following[2]
            assert row[3] < following[2] or row[4:] != following[4:]
