"""What stands in the macros and in their Python twins says the same; hashes are compared by the tests of hashing."""

from __future__ import annotations

import re

import pytest

from delta_scd2.changelog import KINDS, SILENCED, UNAVAILABLE_VALUE
from harness import ROOT

MACROS = ROOT / "macros"
# Parts of the messages that a person searches for in the guides.
MESSAGES = [
    "duplicate keys detected in changelog dataframe for identifier columns",
    "Duplicate rows found for identifier columns",
    "multiple rows in destination table match key",
    "were renamed, dropped or retyped",
    "the session leaves out what it cannot read, without an error",
    "a changelog event of type ",
    " has no row to apply; its ordinal is ",
    "is no change type: ",
    "in place of values that ",
    "keep the last change of each key with `latest_changes`",
    "of which Spark does not tell two values apart",
]


def text(path: str) -> str:
    return (MACROS / path).read_text()


def joined(source: str) -> str:
    """Code with its texts as they will be: those that it joins are one, and names are left out."""
    of_sql = re.sub(r"'\s*~\s*'", "", source)
    return re.sub(r'"\s+f?"', "", of_sql)


def test_kinds_of_change() -> None:
    macro = text("scd2/terms/change_kind.sql")
    listed = re.findall(r"in \(([^)]*)\)\s+then '(\w+)'", macro)
    assert {kind: re.findall(r"'(\w+)'", words) for words, kind in listed} == KINDS


def test_settings_that_hide_errors() -> None:
    assert re.findall(r"'(spark\.[\w.]+)'", text("spark/session.sql")) == SILENCED


def test_the_placeholder_of_debezium() -> None:
    defaults = re.findall(
        r"unavailable_value(?:=|', )'([^']+)'", "".join(path.read_text() for path in MACROS.rglob("*.sql"))
    )
    assert len(defaults) == 3
    assert set(defaults) == {UNAVAILABLE_VALUE}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages(message: str) -> None:
    macros = [path.name for path in MACROS.rglob("*.sql") if message.lower() in joined(path.read_text()).lower()]
    python = [p.name for p in (ROOT / "src").rglob("*.py") if message.lower() in joined(p.read_text()).lower()]
    assert macros != []
    assert python != []
