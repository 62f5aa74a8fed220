"""Spark without the constraints that it infers from queries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

SETTING = "spark.sql.constraintPropagation.enabled"
# Threads share the settings of a session.
_lock = threading.Lock()


@contextmanager
def without_constraints(session: SparkSession) -> Iterator[None]:
    """Have Spark infer no constraints in the block.

    A checkpoint keeps the constraints of its query, for example that one column is the hash of forty others. Spark
    rewrites them for each later alias of a column, until its memory is full.
    """
    with _lock:
        before = session.conf.get(SETTING, None)
        session.conf.set(SETTING, "false")
        try:
            yield
        finally:
            if before is None:
                session.conf.unset(SETTING)
            else:
                session.conf.set(SETTING, before)
