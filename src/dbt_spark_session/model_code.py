"""Executes the code of a Python model and reports errors with the lines of the source file."""

from __future__ import annotations

import ast
import datetime
import os
import sys
import sysconfig
import threading
import traceback
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.errors.exceptions.captured import convert_exception

GENERATED = "<added by dbt>"
# dbt writes config values as Python prints them, including dates and infinities, without imports.
NAMES_IN_CONFIG = {"datetime": datetime, "Decimal": Decimal, "inf": float("inf"), "nan": float("nan")}
OF_CONFIG = "_dbt_config_"
# Before Python 3.11.8, threads that build syntax trees at once can fail (gh-106905 of CPython).
BUILDS_TREES = threading.Lock()
LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}


def execute(name: str, file: Path, written: str, compiled: str, variables: dict[str, Any]) -> None:
    """Run compiled code as a module of its own; `written` is the part of it that is in `file`."""
    before, own, after = compiled.partition(written)
    module = ModuleType(name)
    module.__dict__.update(variables, __file__=str(file))
    # dataclasses look up their module by name; Spark's workers cannot, so pickle by value.
    sys.modules[name] = module
    register_pickle_by_value(module)
    module.__dict__.update({f"{OF_CONFIG}{name}": value for name, value in NAMES_IN_CONFIG.items()})
    try:
        for code, path in (
            (_generated(before), GENERATED),
            ("\n" * _blank_lines(file) + own, str(file)),
            (_generated(after), GENERATED),
        ):
            exec(compile(code, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    finally:
        sys.modules.pop(name, None)


def _generated(code: str) -> ast.Module:
    """Parse the code added by dbt; the model's own names cannot shadow those in config values."""
    with BUILDS_TREES:
        tree = ast.parse(code, GENERATED)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in ("config_dict", "meta_dict"):
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Name) and node.id in NAMES_IN_CONFIG:
                    node.id = f"{OF_CONFIG}{node.id}"
    return tree


def describe(error: BaseException, root: Path) -> str:
    """The traceback of an error without frames of libraries, with paths relative to `root`."""
    report = traceback.TracebackException.from_exception(_without_java(error, set()))
    _drop_libraries(report)
    # A traceback parses the lines that it marks.
    with BUILDS_TREES:
        lines = list(report.format())
    return "".join(lines).rstrip().replace(f"{root}{os.sep}", "")


def _blank_lines(file: Path) -> int:
    """Count the blank lines at the top of a file: dbt strips them, which shifts line numbers."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return text[: len(text) - len(text.lstrip())].count("\n")


def _without_java(error: BaseException, seen: set[int]) -> BaseException:
    """Replace a Java error, with its stack trace of hundreds of lines, by its root cause; also where others wrap it."""
    seen.add(id(error))
    if error.__cause__ is not None and id(error.__cause__) not in seen:
        error.__cause__ = _without_java(error.__cause__, seen)
    if error.__context__ is not None and id(error.__context__) not in seen:
        error.__context__ = _without_java(error.__context__, seen)
    if not isinstance(error, Py4JJavaError):
        return error
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    converted: BaseException = convert_exception(cause)
    return converted.with_traceback(error.__traceback__)


def _drop_libraries(report: traceback.TracebackException) -> None:
    report.stack = traceback.StackSummary.from_list([frame for frame in report.stack if _is_own(frame.filename)])
    for linked in (report.__cause__, report.__context__):
        if linked is not None:
            _drop_libraries(linked)


def _is_own(filename: str) -> bool:
    path = Path(filename)
    if filename.startswith("<") or path.is_relative_to(Path(__file__).parent):
        return False
    return not any(path.is_relative_to(library) for library in LIBRARIES)
