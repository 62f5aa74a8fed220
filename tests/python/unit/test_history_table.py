"""The table that closes a build, rendered from rows without Spark or dbt."""

from __future__ import annotations

import datetime
from typing import Any

from jinja2 import Environment

from harness import ROOT

FILES = ("lib/literals.sql", "operations/history_table.sql")
JANUARY_1 = 1_704_067_200_000_000
HOUR = 3_600_000_000


class _ReturnedError(Exception):
    """What a macro returns, as dbt has it."""


class _Package:
    """Macros by the name of the package."""

    def __init__(self, text: str) -> None:
        environment = Environment(extensions=["jinja2.ext.do"], autoescape=False)  # noqa: S701
        environment.globals |= {"delta_scd2": self, "return": self._return, "modules": {"datetime": datetime}}
        # Jinja exports no name that begins with `_`.
        self._module = environment.from_string(text.replace("macro _", "macro private_")).module

    def __getattr__(self, name: str) -> Any:
        macro = getattr(self._module, f"private{name}" if name.startswith("_") else name)

        def called(*arguments: Any, **named: Any) -> Any:
            try:
                return macro(*arguments, **named)
            except _ReturnedError as returned:
                return returned.args[0]

        return called

    def _return(self, value: Any) -> None:
        raise _ReturnedError(value)


def table(rows: list[dict[str, Any]], has_colors: bool = False) -> str:
    package = _Package("\n".join((ROOT / "macros" / file).read_text() for file in FILES))
    return str(package.history_table(rows, has_colors))


def row(dimension: str, extract_time: int | None, *counts: int, extracts: int = 1) -> dict[str, Any]:
    names = ("new", "changed", "returned", "deleted", "live")
    return {
        "dimension": dimension,
        "extract_time": extract_time,
        "extracts": extracts,
        **dict(zip(names, counts, strict=True)),
    }


ROWS = [
    row("dim_airport", None, 1_234_567, 0, 0, 0, 1_234_567, extracts=1_000),
    row("dim_airport", JANUARY_1, 12, 1_000, 3, 0, 1_234_582),
    row("dim_x", JANUARY_1 + 14 * HOUR + 42_000_001, 0, 0, 0, 2, 0),
]


def test_numbers_have_separators_and_stand_at_the_right_and_a_dimension_is_named_once() -> None:
    assert table(ROWS).splitlines() == [
        "dimension    extract (UTC)              new  changed  returned  deleted       live",
        "dim_airport  1,000 earlier        1,234,567        0         0        0  1,234,567",
        "             2024-01-01                  12    1,000         3        0  1,234,582",
        "dim_x        2024-01-01 14:00:42          0        0         0        2          0",
    ]


def test_headings_are_never_cut() -> None:
    assert table(ROWS[2:]).splitlines()[0] == ("dimension  extract (UTC)        new  changed  returned  deleted  live")


def test_colors_change_no_width() -> None:
    colored = table(ROWS, has_colors=True)
    assert "\x1b[1mdim_airport\x1b[0m" in colored
    assert "\x1b[33m  1,000\x1b[0m" in colored
    assert "\x1b[31m      2\x1b[0m" in colored
    plain = colored
    for style in (0, 1, 2, 31, 32, 33):
        plain = plain.replace(f"\x1b[{style}m", "")
    assert plain == table(ROWS)
    assert "\x1b" not in plain
