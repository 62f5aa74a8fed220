"""dbt-spark's session with cancellable statements."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dbt.adapters.spark.session import SessionConnectionWrapper
from dbt_common.invocation import get_invocation_id
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.utils import to_str

from dbt_spark_session import signals
from dbt_spark_session.cancellation import BEGINNING, COMMITS_TO, RUNS_TO_ITS_END, Jobs, StoppedError, cancellable, stop
from dbt_spark_session.registration import is_on_a_server
from delta_scd2.constraints import checkpoint

# The macro `stage_table` writes this into a query whose rows later statements read under a name.
KEEPS_ROWS = re.compile(BEGINNING + r"/\* keeps rows as (\w+) \*/")
DROPS_VIEW = re.compile(BEGINNING + r"drop view (?:if exists )?(\w+)")
# The kept rows by the name of their view, as RDDs in Java.
_kept: dict[str, Any] = {}


class CancellableSession(SessionConnectionWrapper):  # type: ignore[misc]  # dbt ships no types
    """The connection of one thread to the session."""

    def __init__(self, handle: Any) -> None:
        super().__init__(handle)
        self._thread = threading.get_ident()
        self._jobs = jobs_of(handle.server_side_parameters)
        self._sql = ""

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        self._sql = sql
        try:
            # The first statement of a process starts Spark.
            with cancellable(self._jobs, sql), signals.kept():
                parameters = self.handle.server_side_parameters
                # The cursor gives them to a Spark that is yet to start.
                self._cursor.server_side_parameters = {} if _apply_settings(parameters) else parameters
                super().execute(sql, bindings)
                if keeps := KEEPS_ROWS.match(sql):
                    _keep_rows(self._cursor._df, keeps[1])
                elif drops := DROPS_VIEW.match(sql):
                    _release_rows(drops[1])
        except StoppedError:
            commits_to = COMMITS_TO.match(sql)
            if commits_to is None or not self._has_committed_to(commits_to[1]):
                raise

    def fetchall(self) -> Any:
        if not self._cursor._df.columns:
            # A command; Spark would open a socket to send no rows.
            return []
        with cancellable(self._jobs, self._sql):
            return super().fetchall()

    @property
    def description(self) -> Any:
        with cancellable(self._jobs, self._sql):
            return super().description

    def _has_committed_to(self, table: str) -> bool:
        """Whether this run wrote rows of the table, by the id that the package has Delta keep with each commit."""
        # There may be no table yet.
        with suppress(Exception):
            self.execute(f"{RUNS_TO_ITS_END} describe history {table} limit 10")
            names = [column[0] for column in self.description]
            for row in self.fetchall():
                commit = dict(zip(names, row, strict=True))
                if _writes_rows(commit["operation"]) and get_invocation_id() in (commit["userMetadata"] or ""):
                    return True
        return False

    def close(self) -> None:
        if threading.get_ident() != self._thread:
            # dbt exits while models still run, after an error in the program that called it.
            stop()
        super().close()


def _apply_settings(parameters: Mapping[str, Any]) -> bool:
    """Give the settings of the profile to the Spark of this process, if it is running.

    dbt-spark does so before each statement, and sends them to Java one by one.
    """
    session = SparkSession._instantiatedSession
    if session is None or session._sc._jsc is None or is_on_a_server(parameters):
        return False
    module, settings = _settings_in_java(session, tuple(parameters.items()))
    module.applyModifiableSettings(session._jsparkSession, settings)
    return True


@functools.lru_cache(maxsize=1)
def _settings_in_java(session: SparkSession, parameters: tuple[tuple[str, Any], ...]) -> tuple[Any, Any]:
    """What applies settings, and the settings as a map of Java."""
    settings = session._jvm.java.util.HashMap()
    for name, value in parameters:
        settings.put(name, to_str(value))
    return SparkSession._get_j_spark_session_module(session._jvm), settings


def _keep_rows(query: DataFrame, name: str) -> None:
    """Evaluate a query once, and give its rows a name: docs/decisions/0034."""
    kept = checkpoint(query)
    _release_rows(name)
    _kept[name] = kept._jdf.queryExecution().analyzed().rdd()
    # As the storage page of Spark's UI shows it.
    _kept[name].setName(name)
    kept.createOrReplaceTempView(name)


def _release_rows(name: str) -> None:
    """Free the memory of kept rows; Spark itself does so after Java's garbage collector has missed them."""
    if rows := _kept.pop(name, None):
        # They are gone already if the program has stopped their Spark.
        with suppress(Exception):
            rows.unpersist(False)


def kept_rows() -> list[str]:
    """The names of the rows that are kept."""
    return list(_kept)


def _writes_rows(operation: str) -> bool:
    """Not the columns and properties that a load sets before."""
    return operation == "MERGE" or operation.endswith("AS SELECT")


def jobs_of(parameters: Mapping[str, str]) -> Jobs:
    """The job control of the session with these settings."""
    return _RemoteJobs() if is_on_a_server(parameters) else _LocalJobs()


class _LocalJobs:
    """Jobs of the Spark in this process, if it is running."""

    def tag(self, name: str) -> None:
        if context := SparkContext._active_spark_context:
            context.addJobTag(name)
            # Cancelled tasks may be sleeping, so their threads are interrupted.
            context.setInterruptOnCancel(True)
            if signals.are_taken_over():
                _outlive_signals(context)

    def untag(self, name: str) -> None:
        if context := SparkContext._active_spark_context:
            context.removeJobTag(name)

    def cancel(self, name: str) -> None:
        if context := SparkContext._active_spark_context:
            context.cancelJobsWithTag(name)


class _RemoteJobs:
    """Jobs of the session on a Spark Connect server, if there is one."""

    def tag(self, name: str) -> None:
        if spark := _remote_session():
            spark.addTag(name)

    def untag(self, name: str) -> None:
        if spark := _remote_session():
            spark.removeTag(name)

    def cancel(self, name: str) -> None:
        if spark := _remote_session():
            spark.interruptTag(name)


def _remote_session() -> SparkSession | None:
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


@functools.cache
def _outlive_signals(context: SparkContext) -> None:
    """Make Java ignore SIGTERM: it ends together with Python. It already ignores Ctrl-C."""
    java = context._jvm.sun.misc
    java.Signal.handle(java.Signal("TERM"), java.SignalHandler.SIG_IGN)
