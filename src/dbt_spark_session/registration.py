"""Adds the submission method `session` to dbt-spark, and locks and cancellation to its sessions."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

METHOD = "session"
NO_MODELS = "dbt Python models cannot run in the Spark session, nor statements be cancelled"


def register() -> None:
    """Extend dbt-spark if installed. If it is incompatible, warn and leave dbt usable."""
    # dbt-spark enables Hive for every statement; over Spark Connect, that only causes a warning.
    warnings.filterwarnings("ignore", message="Failed to set spark.sql.catalogImplementation")
    try:
        from dbt.adapters.spark import SparkAdapter

        extend(SparkAdapter)
        prepare_sessions(SparkAdapter.ConnectionManager)
        let_macros_keep_rows(SparkAdapter)
    except ModuleNotFoundError as error:
        if error.name not in ("dbt", "dbt.adapters", "dbt.adapters.spark"):
            _warn(NO_MODELS, error)
    except (ImportError, AttributeError) as error:
        _warn(NO_MODELS, error)


def extend(adapter: Any) -> None:
    """Add the submission method `session` to an adapter class.

    It is the default if the profile's connection method is `session`.

    An adapter that already has a helper of that name keeps its helper and its default.
    """
    own_helpers = adapter.python_submission_helpers.fget
    own_default = adapter.default_python_submission_method.fget

    def helpers(self: Any) -> dict[str, Any]:
        # Imported here, because most dbt commands run no Python model and do not need pyspark.
        from dbt_spark_session.job import SessionPythonJobHelper

        return {METHOD: SessionPythonJobHelper, **own_helpers(self)}

    def default(self: Any) -> str:
        is_ours = METHOD not in own_helpers(self)
        return METHOD if is_ours and self.connections.profile.credentials.method == METHOD else str(own_default(self))

    adapter.python_submission_helpers = property(helpers)
    adapter.default_python_submission_method = property(default)


def prepare_sessions(manager: Any) -> None:
    """Make the connections of a manager lock the embedded metastore, and make them cancellable.

    Disables Spark's own logging of failed queries, because dbt reports them.
    """
    own_init, own_open, own_cancel_open = manager.__init__, manager.open.__func__, manager.cancel_open

    def init(self: Any, profile: Any, *arguments: Any) -> None:
        from dbt_spark_session import signals

        own_init(self, profile, *arguments)
        try:
            from dbt_spark_session.runs import prepare_runs

            prepare_runs()
        except (ImportError, AttributeError) as error:
            _warn("a run that is stopped is not logged", error)
        if signals.is_command_line():
            signals.take_over()

    def opened(cls: Any, connection: Any) -> Any:
        if connection.credentials.method != METHOD:
            return own_open(cls, connection)
        from dbt_spark_session.session import CancellableSession

        _leave_errors_to_dbt()
        check_installation(connection.credentials.server_side_parameters)
        if os.name == "posix":
            from dbt_spark_session.metastore import hold

            hold(connection.credentials.server_side_parameters)
        connection = own_open(cls, connection)
        connection.handle = CancellableSession(connection.handle.handle)
        return connection

    def cancel_open(self: Any) -> Any:
        from dbt_spark_session.cancellation import stop

        if self.profile.credentials.method != METHOD:
            return own_cancel_open(self)
        stop()
        with self.lock:
            idle = {connection.name for connection in self.thread_connections.values() if connection.state != "open"}
        return [name for name in own_cancel_open(self) if name not in idle]

    manager.__init__ = init
    manager.open = classmethod(opened)
    manager.cancel_open = cancel_open


def let_macros_keep_rows(adapter: Any) -> None:
    """Tell macros, as `adapter.keeps_rows()`, whether a connection can keep the rows of a query in Spark.

    It can where Spark runs in this process: no executor can be lost, and its rows with it. The names of the rows
    that are kept are `adapter.kept_rows()`.
    """

    def keeps_rows(self: Any) -> bool:
        credentials = self.connections.profile.credentials
        parameters = credentials.server_side_parameters or {}
        is_local = re.match(r"local($|\[)", str(parameters.get("spark.master", ""))) is not None
        return credentials.method == METHOD and is_local and not is_on_a_server(parameters)

    def kept_rows(self: Any) -> list[str]:
        from dbt_spark_session import session

        return session.kept_rows()

    adapter.keeps_rows = keeps_rows
    adapter.kept_rows = kept_rows
    adapter._available_ = adapter._available_ | {"keeps_rows", "kept_rows"}


def is_on_a_server(parameters: Mapping[str, str]) -> bool:
    """Whether a session with these settings is one of Spark Connect, as PySpark decides it."""
    from pyspark.util import default_api_mode

    mode = str(parameters.get("spark.api.mode", os.environ.get("SPARK_API_MODE", ""))).lower()
    if mode not in ("classic", "connect"):
        mode = default_api_mode()
    return _has_address(parameters) or "SPARK_CONNECT_MODE_ENABLED" in os.environ or mode == "connect"


def _has_address(parameters: Mapping[str, str]) -> bool:
    return "spark.remote" in parameters or "SPARK_REMOTE" in os.environ


def check_installation(parameters: Mapping[str, str]) -> None:
    """Raise a short error where PySpark would fail to start Java or Spark, with a long one."""
    from dbt.adapters.exceptions import FailedToConnectError

    # Without an address, Spark starts a server of its own.
    if _has_address(parameters):
        return
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=f"{home}/bin" if home else None):
        raise FailedToConnectError(
            f"Spark finds no Java: JAVA_HOME is {home}, which has no bin/java. Remedy: correct or unset it."
            if home
            else "Spark finds no Java. Remedy: install a JDK or JRE 17, and put it on PATH or into JAVA_HOME."
        )
    if problem := _other_spark(os.environ.get("SPARK_HOME")):
        raise FailedToConnectError(f"{problem}. Remedy: unset SPARK_HOME; PySpark brings its own Spark.")


def _other_spark(home: str | None) -> str | None:
    """What keeps PySpark from using the Spark of SPARK_HOME, if it is set."""
    if not home:
        return None
    if not Path(home, "bin", "spark-submit").is_file():
        return f"SPARK_HOME is {home}, which has no bin/spark-submit"
    from pyspark import __version__ as version

    release = Path(home, "RELEASE")
    found = re.match(r"Spark (\d+\.\d+)", release.read_text(encoding="utf-8")) if release.is_file() else None
    if found and not version.startswith(f"{found[1]}."):
        return f"SPARK_HOME is {home}, with Spark {found[1]}, and PySpark is {version}"
    return None


def _leave_errors_to_dbt() -> None:
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def _warn(effect: str, error: Exception) -> None:
    warnings.warn(
        f"{effect}: this version of dbt-spark or dbt-core is not one that dbt_spark_session can extend ({error}). "
        "Everything else works as usual.",
        RuntimeWarning,
        stacklevel=2,
    )
