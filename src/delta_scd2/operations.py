"""Runs macros of the project on behalf of a command."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dbt.cli.main import dbtRunner
from dbt_common.events.base_types import EventMsg


class OperationError(Exception):
    """dbt or the macro failed; the text is its message."""


def run_operation(name: str, arguments: Mapping[str, object], dbt_options: Sequence[str] = ()) -> list[str]:
    """Run a macro and return the messages it prints; dbt discards its return value.

    Args:
        name: The macro.
        arguments: The arguments of the macro.
        dbt_options: dbt options, such as `--project-dir`.

    Raises:
        OperationError: The operation failed.
    """
    printed: list[str] = []
    problems: list[str] = []

    def listen(event: EventMsg) -> None:
        if event.info.name == "PrintEvent":
            printed.append(event.data.msg)
        elif event.info.name.startswith("RunningOperation"):
            problems.append(event.data.exc)

    # Keep the artifacts of the last build. YAML knows no pairs of surrogates, which JSON may write.
    quietly = ["--log-level", "none", "--no-write-json", "--print"]
    result = dbtRunner(callbacks=[listen]).invoke(
        ["run-operation", name, "--args", json.dumps(arguments, ensure_ascii=False), *quietly, *dbt_options]
    )
    if not result.success:
        raise OperationError(" ".join(problems) or str(result.exception))
    return printed
