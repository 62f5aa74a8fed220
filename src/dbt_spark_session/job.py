"""The job helper to which dbt-spark submits compiled Python models."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

from dbt.adapters.base import PythonJobHelper
from dbt.adapters.factory import get_adapter_by_type
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from dbt_spark_session.cancellation import cancellable
from dbt_spark_session.model_code import describe, execute
from dbt_spark_session.session import jobs_of

# Spark 4.2.0 hangs on a UDF that reads a column directly from a file (SPARK-58241).
DEFAULTS = {"spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false"}


class SessionPythonJobHelper(PythonJobHelper):  # type: ignore[misc]  # dbt ships no types
    """Runs a compiled Python model in this process, with the session as global `spark`."""

    def __init__(self, parsed_model: dict[str, Any], credential: Any) -> None:
        self._model = parsed_model
        self._parameters: dict[str, Any] = credential.server_side_parameters
        self._type: str = credential.type

    def submit(self, compiled_code: str) -> None:
        model = self._model
        root = _root(model["package_name"], self._type)
        spark = _session(self._parameters)
        with cancellable(jobs_of(self._parameters), is_python=True):
            try:
                execute(
                    name=model["unique_id"],
                    file=root / model["original_file_path"],
                    written=model["raw_code"],
                    compiled=compiled_code,
                    variables={"spark": spark},
                )
            # What is no Exception would silently end dbt's worker thread, and dbt would wait for it forever.
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                    raise
                raise DbtRuntimeError(describe(error, root)) from error


def _root(package: str, adapter_type: str) -> Path:
    """The directory of the project or package that has a model."""
    config = get_adapter_by_type(adapter_type).config
    installed = config if package == config.project_name else config.load_dependencies()[package]
    return Path(installed.project_root).resolve()


def _session(parameters: dict[str, Any]) -> SparkSession:
    """Get the session in the same way as dbt-spark."""
    builder = SparkSession.builder.enableHiveSupport()
    for name, value in {**DEFAULTS, **parameters}.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    if is_remote():
        return spark  # A Spark Connect server starts its own Python.
    context = spark.sparkContext
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        # Spark would start the first python3 on PATH, which may lack this environment's packages.
        context.pythonExec = sys.executable
    return spark
