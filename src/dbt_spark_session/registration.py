"""Adds the submission method `session` to dbt-spark, locks the embedded metastore, and leaves errors to dbt."""

from __future__ import annotations

import os
import warnings
from typing import Any

METHOD = "session"


def register() -> None:
    """Extend dbt-spark where it is installed; a dbt-spark of another shape costs a warning, not a broken dbt."""
    # dbt-spark asks for Hive at every statement, which over Spark Connect is the server's choice and gets a warning.
    warnings.filterwarnings("ignore", message="Failed to set spark.sql.catalogImplementation")
    try:
        from dbt.adapters.spark import SparkAdapter

        extend(SparkAdapter)
        prepare_sessions(SparkAdapter.ConnectionManager)
    except ModuleNotFoundError as error:
        if error.name not in ("dbt", "dbt.adapters", "dbt.adapters.spark"):
            _warn(error)
    except (ImportError, AttributeError) as error:
        _warn(error)


def extend(adapter: Any) -> None:
    """Offer `session` on an adapter class, the default where the profile's method is `session`.

    An adapter that brings a helper of that name keeps its own helper and its own default.
    """
    own_helpers = adapter.python_submission_helpers.fget
    own_default = adapter.default_python_submission_method.fget

    def helpers(self: Any) -> dict[str, Any]:
        # Imported on use: most dbt commands run no Python model and need no pyspark.
        from dbt_spark_session.job import SessionPythonJobHelper

        return {METHOD: SessionPythonJobHelper, **own_helpers(self)}

    def default(self: Any) -> str:
        is_ours = METHOD not in own_helpers(self)
        return METHOD if is_ours and self.connections.profile.credentials.method == METHOD else str(own_default(self))

    adapter.python_submission_helpers = property(helpers)
    adapter.default_python_submission_method = property(default)


def prepare_sessions(manager: Any) -> None:
    """Let the connections of a manager hold the embedded metastore that their profile names, before Spark starts.

    What Spark says of a failing query is left to dbt, which says it again.
    """
    own_open = manager.open.__func__

    def opened(cls: Any, connection: Any) -> Any:
        if connection.credentials.method == METHOD:
            _leave_errors_to_dbt()
            if os.name == "posix":
                from dbt_spark_session.metastore import hold

                hold(connection.credentials.server_side_parameters)
        return own_open(cls, connection)

    manager.open = classmethod(opened)


def _leave_errors_to_dbt() -> None:
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def _warn(error: Exception) -> None:
    warnings.warn(
        "dbt Python models cannot run in the Spark session: this version of dbt-spark is not one that "
        f"dbt_spark_session can extend ({error}). Everything else works as usual.",
        RuntimeWarning,
        stacklevel=2,
    )
