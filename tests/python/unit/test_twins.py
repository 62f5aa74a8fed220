"""What stands in the macros and in their Python twins says the same; hashes are compared by the tests of hashing."""

from __future__ import annotations

import ast
import base64
import inspect
import json
import re
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from jinja2 import Environment

import delta_scd2
from dbt_spark_session.cancellation import COMMITS_TO, RUNS_TO_ITS_END
from dbt_spark_session.session import KEEPS_ROWS, _writes_rows
from delta_scd2 import columns, point_in_time
from delta_scd2.changelog import feed, kinds
from harness import ROOT

MACROS = ROOT / "macros"
PYTHON = ROOT / "src" / "delta_scd2"
# Parts of the messages that a person searches for in the guides.
MESSAGES = [
    "duplicate keys detected in changelog dataframe for identifier columns",
    "Duplicate rows found for identifier columns",
    "multiple rows in destination table match key",
    "were renamed, dropped or retyped",
    "the session leaves out what it cannot read, without an error",
    "a changelog event of type ",
    " has no row to apply; its ordinal is ",
    "is not a change type: ",
    "in place of values that ",
    "keep the last change of each key with `latest_changes`",
    "of which Spark does not tell two values apart",
    ", and maps cannot be compared",
]
# The modules that do what macros do, and what only they say.
TWINS = ["changelog/*.py", "columns.py", "hashing.py", "point_in_time.py", "timestamps.py"]
ONLY_IN_PYTHON = {
    # Arguments are given to a function, not to a model.
    "a hash has no columns",
    "a lookup has no keys",
    "apply_changelog has no keys",
    "latest_changes has no keys",
    "is not a column of the changelog",
    "name the columns of the business key",
    "no such column to hash",
    "part of the key or no column of the changelog",
    "stands in the key",
    "its columns are",
    "the columns are",
    "expected a timedelta that is not negative",
    # The macros refuse this in the columns of the model, in other words.
    "the changelog has more than one column named",
    "rename or drop one of them",
    # A time is given as a value, and a wrong one is an error there and then.
    "give a timestamp expression",
    "a date or a text",
    "give it one",
    "has no time zone",
    # The macro does not know the columns of the facts.
    "the fact has a column",
    "or give the new one another `alias",
    # A person without dbt has no model to change and no `--full-refresh`.
    "empty the copy and go on with the events after it",
    "or keep one yourself",
    "translate it to insert",
    "cast it to a type that it stores",
    # The macros put these together of other parts.
    "has other fields in the changelog than in",
    "expected a text",
    "expected one of",
    "expected two different texts",
}
NO_SAYING = re.compile(r"^_change_|^select |[<>\[\]]|[^:]=")
TYPES = ["int", "x" * 100, "y" * 101, "z" * 700]


def text(path: str) -> str:
    return (MACROS / path).read_text()


def joined(source: str) -> str:
    """Code with its texts as they will be: those that it joins are one, and names are left out."""
    of_sql = re.sub(r"'\s*~\s*'", "", source)
    return re.sub(r'"\s+f?"', "", of_sql)


def texts_of_macros() -> str:
    """The SQL and the texts in all macros; texts that `~` joins are one."""
    found: list[str] = []
    for path in sorted(MACROS.rglob("*.sql")):
        lexed = Environment(autoescape=True).lexer.tokeniter(path.read_text(), None)
        tokens = [(kind, token) for _, kind, token in lexed if kind != "whitespace"]
        goes_on = False
        for (kind, token), *following in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if kind == "data":
                found.append(token)
            if kind == "string":
                found += [(found.pop() if goes_on else "") + token[1:-1]]
                goes_on = following[0] == ("operator", "~") and following[1][0] == "string"
    return "\n".join(found).lower()


def sayings(source: str) -> set[str]:
    """The parts of the texts of Python code that say something: not names, SQL or patterns."""
    tree = ast.parse(source)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents
    ]
    parts = {part.strip(" .`").lower() for text in texts for part in re.split(r"\n|[.:;,]`? | \(`", text)}
    return {part for part in parts if part.count(" ") >= 2 and not NO_SAYING.search(part)}


def rendered(path: str, call: str, **values: Any) -> str:
    """What a call of a macro returns or prints, by the macros of its file and of those that it builds on."""
    environment = Environment(autoescape=False, extensions=["jinja2.ext.do"])  # noqa: S701  # no HTML
    literals = environment.from_string(text("lib/literals.sql")).make_module({"return": str})
    package = SimpleNamespace(sql_string=lambda value: str(literals.sql_string(value)).strip())  # type: ignore[attr-defined]
    common: dict[str, Any] = {"return": str, "fromjson": json.loads, "run_query": str, "delta_scd2": package}
    return environment.from_string(text(path) + "{{ " + call + " }}").render(**common, **values).strip()


def arguments(path: str, macro: str) -> dict[str, Any]:
    """The arguments of a macro that have a default, and the default."""
    signature = re.search(rf"{{% macro {macro}\((.*?)\) -?%}}", text(path), re.DOTALL)
    assert signature is not None
    call = ast.parse(f"f({signature[1].strip()})".replace("none", "None"), mode="eval").body
    assert isinstance(call, ast.Call)
    return {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def test_kinds_of_change() -> None:
    macro = text("scd2/terms/change_kind.sql")
    listed = re.findall(r"in \(([^)]*)\)\s+then '(\w+)'", macro)
    assert {kind: re.findall(r"'(\w+)'", words) for words, kind in listed} == kinds.KINDS


def test_settings_that_hide_errors() -> None:
    assert re.findall(r"'(spark\.[\w.]+)'", text("spark/session.sql")) == feed.SILENCED


def test_the_placeholder_of_debezium() -> None:
    defaults = re.findall(r"'(__debezium[^']+)'", "".join(path.read_text() for path in MACROS.rglob("*.sql")))
    assert len(defaults) == 3
    assert set(defaults) == {kinds.UNAVAILABLE_VALUE}


def test_forms_of_the_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    placeholder = "__it's_absent"
    monkeypatch.setattr(kinds, "F", MagicMock())
    value = MagicMock()
    kinds.is_unavailable(value, placeholder)
    in_python = value.cast.return_value.isin.call_args.args

    call = "is_unavailable_sql('v', placeholder)"
    sql = rendered("lib/unavailable_values.sql", call, placeholder=placeholder)
    listed = [line.strip().rstrip(",") for line in sql.splitlines()[1:-1]]
    in_sql = [line.removeprefix("base64(").rstrip(")").strip("'").replace("\\'", "'") for line in listed]
    assert listed[1].startswith("base64(")
    in_sql[1] = base64.b64encode(in_sql[1].encode()).decode()
    assert in_sql == list(in_python)


@pytest.mark.parametrize("message", MESSAGES)
def test_messages(message: str) -> None:
    macros = [path.name for path in MACROS.rglob("*.sql") if message.lower() in joined(path.read_text()).lower()]
    python = [p.name for p in (ROOT / "src").rglob("*.py") if message.lower() in joined(p.read_text()).lower()]
    assert macros != []
    assert python != []


def test_python_says_what_the_macros_say() -> None:
    macros = texts_of_macros()
    said = {saying for name in TWINS for file in PYTHON.glob(name) for saying in sayings(file.read_text())}
    assert "name the columns that identify a row of" in said
    assert sorted(saying for saying in said if saying not in macros) == sorted(ONLY_IN_PYTHON)


@pytest.mark.parametrize("data_type", TYPES, ids=len)
def test_long_types_are_cut_off(data_type: str) -> None:
    for most in (100, 500):
        cut = rendered("lib/types.sql", "shown_text(type, most)", type=data_type, most=most)
        assert columns.shown(data_type, most) == cut
    assert columns.shown(data_type) == rendered("lib/types.sql", "shown_text(type)", type=data_type)


def test_types_that_cannot_be_compared() -> None:
    patterns = [
        re.search(r"'(\S+variant\S+)', column", text("lib/types.sql")),
        re.search(r'"(\S+variant\S+)", data_type', inspect.getsource(columns.incomparable_columns)),
    ]
    assert patterns[0] is not None
    assert patterns[1] is not None
    assert patterns[0][1] == patterns[1][1]


def test_errors_of_delta() -> None:
    checks = text("changelog/feed_checks.sql") + text("delta/restore_table.sql")
    conditions = set(re.findall("DELTA_[A-Z_]+", checks))
    in_python = tuple(re.findall("DELTA_[A-Z_]+", inspect.getsource(feed._check_feed)))
    assert len(conditions) == 6
    assert [condition for condition in conditions if not condition.startswith(in_python)] == []
    planned = re.search(r"'\(\?s\)\^(Error occurred .*)', plan", text("lib/statements.sql"))
    assert planned is not None
    assert planned[1].replace("\\\\", "\\") in inspect.getsource(feed._check_feed)


def test_arguments() -> None:
    twins: list[tuple[str, Callable[..., Any]]] = [
        ("changelog", delta_scd2.changelog),
        ("latest_changes", delta_scd2.latest_changes),
        ("flatten_changelog", delta_scd2.flatten_changelog),
        ("apply_changelog", delta_scd2.apply_changelog),
    ]
    for name, function in twins:
        in_sql, in_python = arguments(f"changelog/{name}.sql", name), defaults(function)
        assert [key for key in in_python if (in_python[key] or None) != (in_sql[key] or None)] == [], name


def test_names_of_columns() -> None:
    named = dict(
        re.findall(r"'(\w+)': '(\w+)',", text("scd2/config/scd2_config.sql").split("macro default_column_names")[1])
    )
    for function in (point_in_time.current, point_in_time.as_of, point_in_time.as_of_join):
        given = {role: name for role, name in defaults(function).items() if role in named}
        assert given.items() <= named.items()
        assert "is_deleted" in given

    options = text("scd2/config/scd2_config.sql")
    assert "'closing_gap', '0'" in options
    assert "'flag_values', [true, false]" in options
    assert "'hard_deletes', 'soft_delete'" in options
    defaults_of_python = defaults(point_in_time.as_of)
    assert defaults_of_python["closing_gap"] == timedelta(0)
    assert defaults_of_python["flag_values"] == (True, False)
    assert defaults_of_python["hard_deletes"] == "soft_delete"


def test_commits_of_rows() -> None:
    operations = ["MERGE", "CREATE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT", "SET TBLPROPERTIES", "DELETE"]
    for operation in operations:
        commit = {"operation": operation, "operationParameters": "{'properties': '{}'}"}
        in_sql = rendered("load_log/lost_loads.sql", "_writes_versions(commit)", commit=commit)
        assert in_sql == str(_writes_rows(operation)), operation
    # A table that `--empty` makes is there, so that the statement is over; it is no load to log.
    properties = '{"scd2.sample": "empty"}'
    commit = {"operation": "CREATE TABLE AS SELECT", "operationParameters": f"{{'properties': '{properties}'}}"}
    assert rendered("load_log/lost_loads.sql", "_writes_versions(commit)", commit=commit) == "False"


def test_comments_on_how_a_statement_ends() -> None:
    path = "lib/statements.sql"
    assert rendered(path, "running_to_its_end('select 1')").startswith(f"{RUNS_TO_ITS_END}\n")
    commits_to = COMMITS_TO.match(rendered(path, "committing('`a`.`b`', 'merge')"))
    assert commits_to is not None
    assert commits_to[1] == "`a`.`b`"
    (comment,) = re.findall(r"(/\* keeps rows as )\{\{ table", text("lib/staging.sql"))
    for before in ("", '\n/* {"app": "dbt"} */\n', "/* ** */ /* runs to its end */ "):
        kept = KEEPS_ROWS.match(f"{before}{comment}dim_x__rows */ select 1")
        assert kept is not None
        assert kept[1] == "dim_x__rows"
    # A value is no comment.
    for marker, pattern in ((f"{comment}x */", KEEPS_ROWS), ("/* commits to x */", COMMITS_TO)):
        assert pattern.match(f"/* dbt */ insert into log values ('{marker}')") is None
