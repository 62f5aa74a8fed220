"""Extends dbt's tasks: a stopped run keeps its results and prints no traceback, and every run logs its loads.

A run of two releases does not start.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import Any

from dbt.adapters.factory import get_adapter
from dbt.cli import requires
from dbt.events.types import MainStackTrace
from dbt.node_types import RunHookType
from dbt.task.run import RunTask
from dbt.task.runnable import GraphRunnableTask
from dbt_common.events.base_types import EventLevel
from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note

from dbt_spark_session.cancellation import raise_interrupt
from dbt_spark_session.versions import check_versions

LOG = re.compile(r"\blog_loads\(")


@functools.cache
def prepare_runs() -> None:
    """Extend dbt's tasks, once per process."""
    task = GraphRunnableTask
    # All attributes are read before any is set, so an incompatible dbt remains unchanged.
    task.call_runner, task._cancel_connections, task.run, RunTask.execute_with_hooks, requires.fire_event = (
        _keeping(task.call_runner),
        _with_late_results(task._cancel_connections),
        _interrupted_at_last(task.run),
        _of_one_release(_with_log(RunTask.execute_with_hooks)),
        _without_traceback(requires.fire_event),
    )


def _keeping(call_runner: Callable[..., Any]) -> Callable[..., Any]:
    # dbt-core 1.12 passes more arguments than the runner.
    def kept(self: Any, *arguments: Any) -> Any:
        result = call_runner(self, *arguments)
        # The batches of a model end before the model itself.
        vars(self).setdefault("_ended", {})[result.node.unique_id] = result
        return result

    return kept


def _with_late_results(cancel_connections: Callable[..., None]) -> Callable[..., None]:
    """Add the results of models that dbt waits for after a stop but does not record."""

    def cancelled(self: Any, pool: Any) -> None:
        cancel_connections(self, pool)
        told = {result.node.unique_id for result in self.node_results}
        for unique_id, result in vars(self).get("_ended", {}).items():
            if unique_id not in told and not result.node.is_ephemeral_model:
                self.node_results.append(result)

    return cancelled


def _of_one_release(execute_with_hooks: Callable[..., Any]) -> Callable[..., Any]:
    """Before any node or hook runs, compare the versions of the two packages."""

    def checked(self: Any, selected: Any) -> Any:
        check_versions(self.config)
        return execute_with_hooks(self, selected)

    return checked


def _interrupted_at_last(run: Callable[..., Any]) -> Callable[..., Any]:
    """Raise what a signal left while the log was written, which runs to its end, once dbt has its results."""

    def interrupted(self: Any) -> Any:
        result = run(self)
        raise_interrupt()
        return result

    return interrupted


def _with_log(execute_with_hooks: Callable[..., Any]) -> Callable[..., Any]:
    """Write the load log of an interrupted run, for which dbt runs no on-run-end hooks, or after a hook that failed."""

    def logged(self: Any, selected: Any) -> Any:
        try:
            return execute_with_hooks(self, selected)
        finally:
            if self.node_results:
                _log_loads(self)

    return logged


def _log_loads(task: Any) -> None:
    """Run the hooks of the load log that dbt has not run to their end."""
    done = {result.node.unique_id for result in task.node_results if result.status == "success"}
    hooks = [
        hook
        for hook in task.get_hooks_by_type(RunHookType.End)
        if LOG.search(hook.raw_code) and hook.unique_id not in done
    ]
    if not hooks:
        return
    adapter = get_adapter(task.config)
    extras = {
        "results": [result for result in task.node_results if result.thread_id != "main"],
        "schemas": [],
        "database_schemas": [],
    }
    try:
        with adapter.connection_named("master"):
            for hook in hooks:
                task.get_hook_sql(adapter, hook, 1, 1, extras)
    except Exception as error:
        message = "The load log was not written. The next run adds the loads that were committed, without counts"
        fire_event(Note(msg=f"{message}: {error}"), level=EventLevel.WARN)
    finally:
        adapter.cleanup_connections()


def _without_traceback(own: Callable[..., None]) -> Callable[..., None]:
    """Drop dbt's stack trace for an interrupt, which is not an error in dbt."""

    def fired(event: Any, *arguments: Any, **options: Any) -> None:
        if not (isinstance(event, MainStackTrace) and isinstance(sys.exc_info()[1], KeyboardInterrupt)):
            own(event, *arguments, **options)

    return fired
