"""The macros of the project that a person calls by a command of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import EventMsg


class OperationError(Exception):
    """dbt, or the macro, refused; the text is what it said."""


def run_operation(name: str, arguments: Mapping[str, object], dbt_options: Sequence[str] = ()) -> list[str]:
    """What a macro prints; dbt throws away what it returns.

    Args:
        name: The macro.
        arguments: What it takes.
        dbt_options: Options of dbt, such as the folder of the project.

    Raises:
        OperationError: The operation did not end well.
    """
    printed: list[str] = []
    problems: list[str] = []

    def listen(event: EventMsg) -> None:
        if event.info.name == "PrintEvent":
            printed.append(event.data.msg)
        elif event.info.name.startswith("RunningOperation"):
            problems.append(event.data.exc)

    # Artifacts of a build stay as they are.
    quietly = ["--log-level", "none", "--no-write-json", "--print"]
    result = dbtRunner(callbacks=[listen]).invoke(
        ["run-operation", name, "--args", json.dumps(arguments), *quietly, *dbt_options]
    )
    if not result.success:
        raise OperationError(" ".join(problems) or str(result.exception))
    return printed
