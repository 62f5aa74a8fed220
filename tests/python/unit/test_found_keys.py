"""Which business key `new_dimension` finds in a table; the macros are rendered without dbt, and count in Python."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import Environment

from harness import ROOT

MACROS = ROOT / "macros"
FILES = ["codegen/profile.sql", "codegen/key.sql", "lib/lists.sql", "lib/identifiers.sql", "lib/errors.sql"]
COUNT = re.compile(r"count\(\*\) - count\(distinct (.+)\) as (doubles_\d+)")

Table = dict[str, list[Any]]


class Returned(Exception):  # noqa: N818  # as dbt has it
    """What a macro returns, by the way that dbt takes, too."""


class Macros:
    """The macros of some files, which call each other by the name of the package."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.environment = Environment(autoescape=False, extensions=["jinja2.ext.do"])  # noqa: S701  # no HTML
        self.environment.globals.update(
            delta_scd2=self,
            run_query=self.count,
            modules=SimpleNamespace(re=re, datetime=datetime),
            exceptions=SimpleNamespace(raise_compiler_error=self.refuse),
            execute=False,
            **{"return": self.give_back},
        )
        source = "\n".join((MACROS / name).read_text() for name in FILES)
        # Jinja exports no name that begins with `_`, so that dbt gives all of them a prefix.
        prefixed = re.sub(r"({% macro )", r"\1dbt_macro__", source)
        self.module = self.environment.from_string(prefixed).make_module()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return str(getattr(self.module, f"dbt_macro__{name}")(*arguments, **named)).strip()
            except Returned as returned:
                return returned.args[0]

        return call

    def give_back(self, value: Any) -> None:
        raise Returned(value)

    def refuse(self, message: str) -> None:
        raise ValueError(message)

    def count(self, sql: str) -> SimpleNamespace:
        """The answer to how many rows have the values of another one, for each candidate."""
        counts = {}
        for names, alias in COUNT.findall(sql):
            columns = [self.table[name] for name in re.findall("`([^`]+)`", names)]
            rows = list(zip(*columns, strict=True))
            counts[alias] = len(rows) - len(set(rows))
        assert counts, sql
        return SimpleNamespace(rows=[counts])


def found(table: Table, entity: str) -> dict[str, Any]:
    """The key of a table, which is profiled here as the macro does it."""
    columns = [
        {
            "name": name,
            "position": position,
            "data_type": "string" if isinstance(values[0], str) else "int",
            "is_time": isinstance(values[0], datetime.date),
            "may_identify": not isinstance(values[0], datetime.date),
            "is_filled": None not in values,
            "distinct": len(set(values)),
            "has_blanks": any(isinstance(value, str) and " " in value.strip() for value in values),
        }
        for position, (name, values) in enumerate(table.items())
    ]
    rows = len(next(iter(table.values())))
    profile = {"relation": "silver.things", "columns": columns, "row_count": rows, "has_feed": False}
    key: dict[str, Any] = Macros(table)._found_key(profile, [], entity)
    return key


def numbered(prefix: str, count: int = 11) -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


COUNTRIES = ["CH"] * 9 + ["DE", "DE"]
NUMBERS = [*range(1, 10), 1, 2]
SUPPLIERS = {"name": numbered("Muster AG "), "country": COUNTRIES, "supplier_no": NUMBERS, "city": ["Bern"] * 11}
DAYS = [datetime.date(2024, 1, day) for day in (1, 2) for _ in range(4)]
CASES: dict[str, tuple[Table, str, list[str]]] = {
    "a number that repeats in another country": (SUPPLIERS, "supplier", ["country", "supplier_no"]),
    "the same under another name of the table": (SUPPLIERS, "vendor", ["country", "supplier_no"]),
    "one row of another country": (
        {**SUPPLIERS, "country": ["CH"] * 10 + ["DE"], "supplier_no": [*range(1, 11), 1]},
        "supplier",
        ["country", "supplier_no"],
    ),
    "a name without blanks": ({**SUPPLIERS, "name": numbered("n")}, "vendor", ["country", "supplier_no"]),
    "a text with blanks under another name": (
        {"company": SUPPLIERS["name"], "country": COUNTRIES, "supplier_no": NUMBERS},
        "vendor",
        ["country", "supplier_no"],
    ),
    "a number of its own": ({"name": numbered("n"), "supplier_no": list(range(11))}, "vendor", ["supplier_no"]),
    "words joined in capitals": (
        {"name": numbered("n"), "countryCode": COUNTRIES, "supplierNo": NUMBERS},
        "supplier",
        ["countryCode", "supplierNo"],
    ),
    **{
        f"a column {name}": ({"title": numbered("t"), name: list(range(11)), "size": [1] * 11}, "vendor", [name])
        for name in ("id", "code", "key", "number", "vendor_id", "tax_code", "crm_key", "order_number", "ID")
    },
    "the key of the table before another": (
        {"address_id": list(range(11)), "vendor_id": list(range(11))},
        "vendor",
        ["vendor_id"],
    ),
    "one column before two": ({"isbn": numbered("978"), "country": COUNTRIES, "shelf_no": NUMBERS}, "book", ["isbn"]),
    "the key of the table in a pair before one column": (
        {"barcode": numbered("x"), "country": COUNTRIES, "book_no": NUMBERS},
        "book",
        ["country", "book_no"],
    ),
    "a name, if there is nothing else": ({"name": numbered("n"), "size": [1] * 11}, "vendor", ["name"]),
    "a name, beside a code that repeats": (
        {"place_code": [7, 7, 7, 8], "code_name": ["a", "b", "c", "d"]},
        "place",
        ["code_name"],
    ),
    "a name before its hash": ({"name_hash": numbered("h"), "name": numbered("n")}, "vendor", ["name"]),
    "many columns named like keys": (
        {**{f"part_{number}_id": NUMBERS for number in range(9)}, "name": numbered("n")},
        "vendor",
        ["name"],
    ),
    "in each extract": (
        {"region": ["n", "n", "s", "s"] * 2, "no": [1, 2] * 4, "name": numbered("n", 4) * 2, "loaded_on": DAYS},
        "store",
        ["region", "no"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_found_key(name: str) -> None:
    table, entity, key = CASES[name]
    assert found(table, entity)["key"] == key


def test_a_key_of_extracts_tells_their_time() -> None:
    table, entity, _ = CASES["in each extract"]
    assert found(table, entity)["time"] == "loaded_on"


def test_no_key() -> None:
    with pytest.raises(ValueError, match=r"no column of silver.things, and no pair of columns, is unique"):
        found({"name": ["a", "a"], "size": [1, 1]}, "thing")
