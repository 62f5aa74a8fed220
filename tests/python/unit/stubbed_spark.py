"""A Spark that runs nothing: it keeps the statements that dbt sends and answers its questions from what a case says."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from unittest.mock import MagicMock

import pytest
from dbt.adapters.spark.session import Cursor

from dbt_spark_session.cancellation import RUNS_TO_ITS_END

SCHEMA = "gold"
RUN = re.compile(r"\d{14}_[0-9a-f]{8}")
BOUND = re.compile(r"__dbt_bound_[0-9a-f]{32}")
INVOCATION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Answer = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Table:
    """A table that is there before the load: its columns by type, its properties, its newest version."""

    columns: dict[str, str]
    properties: dict[str, str] = field(default_factory=dict)
    version: int = 7


@dataclass(frozen=True)
class Case:
    """A load: the model, the tables that are there, and what the questions of the load are answered.

    `answers` holds the rows for a question, by a text that occurs in its statement; the first that occurs counts.
    """

    model: str
    source: dict[str, str]
    tables: dict[str, Table] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)


class StubbedSpark:
    """What stands in for the cursor of dbt-spark's session method."""

    def __init__(self, cases: Mapping[str, Case]) -> None:
        self.cases = cases
        # The case whose model an operation or a test is run for; dbt names no model then.
        self.operation = ""
        self.statements: dict[str, list[str]] = defaultdict(list)
        # What a load staged, and whether as a temporary view.
        self._staged: dict[str, dict[str, bool]] = defaultdict(dict)
        # What a temporary view selects from.
        self._views: dict[str, str] = {}

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        spark = self

        def execute(cursor: Any, sql: str, *parameters: object) -> None:
            cursor.answer = spark.answer(sql)
            cursor._df = MagicMock()

        def description(cursor: Any) -> list[tuple[Any, ...]]:
            # Of an answer without rows dbt wants a first column all the same.
            names = cursor.answer[0] if cursor.answer else ["nothing"]
            return [(name, "string", None, None, None, None, True) for name in names]

        monkeypatch.setattr(Cursor, "execute", execute)
        monkeypatch.setattr(Cursor, "fetchall", lambda cursor: [tuple(row.values()) for row in cursor.answer])
        monkeypatch.setattr(Cursor, "description", property(description))

    def answer(self, sql: str) -> Answer:
        comment, _, statement = sql.strip().replace(f"{RUNS_TO_ITS_END}\n", "").partition("*/")
        node = re.search(r'"node_id": "model\.\w+\.(\w+)"', comment)
        statement = "\n".join(line.rstrip() for line in statement.strip().splitlines())
        is_about_a_case = '"connection_name": "macro_' in comment or '"node_id": "test.' in comment
        name = node[1] if node else self.operation if is_about_a_case else ""
        if name not in self.cases or statement.startswith("show table extended"):
            return self._answer_dbt(statement)
        shown = BOUND.sub("__dbt_bound_<thread>", RUN.sub("<run>", statement))
        self.statements[name].append(INVOCATION.sub("<invocation>", shown))
        case = self.cases[name]
        for text, rows in case.answers.items():
            if text in statement:
                return rows
        for pattern, reply in self._replies(name, case).items():
            found = re.match(pattern, statement, re.DOTALL)
            if found:
                return reply(found)
        if statement.startswith(("select", "with")):
            raise AssertionError(f"{name} asks what its case does not answer:\n{statement}")
        return []

    def _answer_dbt(self, statement: str) -> Answer:
        """What dbt asks by itself, of all cases at once."""
        if statement == "show databases":
            return [{"namespace": SCHEMA}]
        if statement.startswith("show table extended"):
            return [
                {
                    "namespace": SCHEMA,
                    "tableName": name,
                    "isTemporary": False,
                    "information": f"Database: {SCHEMA}\nTable: {name}\nType: MANAGED\nProvider: delta\n",
                }
                for case in self.cases.values()
                for name in case.tables
            ]
        return []

    def _replies(self, name: str, case: Case) -> dict[str, Callable[[re.Match[str]], Answer]]:
        """The answers that are the same for all cases, by a pattern of the statement."""

        def stage(found: re.Match[str]) -> Answer:
            self._staged[name][found[1]] = not found[0].startswith("create table")
            return []

        def shown(found: re.Match[str]) -> Answer:
            pattern = re.compile(found[1].replace("*", ".*"))
            known = dict.fromkeys(case.tables, False) | self._staged[name]
            return [
                {"namespace": SCHEMA, "tableName": table, "isTemporary": is_temporary}
                for table, is_temporary in known.items()
                if pattern.fullmatch(table)
            ]

        def properties(found: re.Match[str]) -> Answer:
            return [{"key": key, "value": value} for key, value in case.tables[found[1]].properties.items()]

        def view(found: re.Match[str]) -> Answer:
            self._views[found[1]] = found[2]
            return []

        def types(found: re.Match[str]) -> Mapping[str, str]:
            relation = self._views.get(found[1], found[1]).rpartition(".")[2]
            return case.tables[relation].columns if relation in case.tables else case.source

        def columns(found: re.Match[str]) -> Answer:
            # Types are given as Spark names them.
            described = [{"name": column, "type": {"name": type_}} for column, type_ in types(found).items()]
            return [{"json_metadata": json.dumps({"columns": described})}]

        def printed(found: re.Match[str]) -> Answer:
            return [{"col_name": column, "data_type": type_} for column, type_ in types(found).items()]

        def history(found: re.Match[str]) -> Answer:
            version = case.tables[found[1]].version if found[1] in case.tables else 0
            commit = {"version": version, "timestamp": datetime(2024, 6, 1, tzinfo=UTC), "operation": "WRITE"}
            return [{**commit, "userMetadata": None}]

        def size(found: re.Match[str]) -> Answer:
            return [{"name": found[1], "sizeInBytes": 1_000, "tableFeatures": "[]", "partitionColumns": "[]"}]

        return {
            rf"describe detail {SCHEMA}\.(\w+)$": size,
            r"/\* keeps rows as (\w+) \*/": stage,
            rf"create table {SCHEMA}\.(\w+) using parquet ": stage,
            rf"show tables in {SCHEMA} like '(.*)'$": shown,
            rf"show tblproperties {SCHEMA}\.(\w+)$": properties,
            r"create or replace temporary view (`__dbt_bound_\w+`) as\s+select \* from (\S+)$": view,
            r"describe query ": lambda _: [
                {"col_name": column, "data_type": type_} for column, type_ in case.source.items()
            ],
            r"describe table extended (`?\w+`?) as json$": columns,
            r"describe table (`?\w+`?)$": printed,
            rf"describe history {SCHEMA}\.(\w+) limit \d+$": history,
            r"show databases$": lambda _: [{"namespace": SCHEMA}],
            rf"describe schema `{SCHEMA}`$": lambda _: [
                {"info_name": "Location", "info_value": "file:/warehouse/gold"}
            ],
            r"select url_decode": lambda _: [{"path": "/warehouse/gold"}],
            r"begin\n.*is_delta": lambda _: [{"is_delta": False}],
        }
