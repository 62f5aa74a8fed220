"""Rows that Spark keeps, without the constraints that it infers from their query."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

SETTING = "spark.sql.constraintPropagation.enabled"
# Threads share the settings of a session.
_lock = threading.Lock()


def checkpoint(query: DataFrame) -> DataFrame:
    """The rows of a query, evaluated once.

    A checkpoint keeps the constraints of its query, for example that one column is the hash of forty others. Spark
    rewrites them for each later alias of a column, until its memory is full, so they are left out.
    """
    session = query.sparkSession
    if not hasattr(session, "_jsparkSession"):
        with without_constraints(session):
            return query.localCheckpoint()
    # Java reads the settings of its thread's session.
    session._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)
    plan = query._jdf.queryExecution().optimizedPlan()
    with without_constraints(session):
        # Spark works them out once, and now remembers that there are none.
        plan.constraints()
    return query.localCheckpoint()


@contextmanager
def without_constraints(session: SparkSession) -> Iterator[None]:
    """Have Spark infer no constraints in the block; other threads wait for its end."""
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
