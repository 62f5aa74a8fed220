"""The last load of each dimension, as the load log has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

EFFECTS = ("opened", "closed", "deleted", "altered", "removed")


@dataclass(frozen=True)
class LastLoad:
    """The newest row of the load log about a dimension.

    Attributes:
        at: When its run began; microseconds since the epoch.
        status: `success`, `error` or `undone`.
        effects: The number of versions by what became of them; empty if the row has no counts.
        message: What dbt reported.
    """

    at: int
    status: str
    effects: Mapping[str, int]
    message: str


def last_loads(spark: SparkSession, log: str) -> dict[str, LastLoad]:
    """The last load of each dimension by its table, `schema.name`; one statement for all.

    Args:
        spark: The session.
        log: The table of the load log, as SQL writes it.
    """
    newest = spark.sql(
        f"select relation, inline(array(max_by(struct(unix_micros(started_at) as at, status, message,"  # noqa: S608
        f" {', '.join(EFFECTS)}), started_at))) from {log} group by relation"
    )
    return {
        row["relation"]: LastLoad(
            row["at"],
            row["status"],
            {effect: row[effect] for effect in EFFECTS if row[effect] is not None},
            row["message"] or "",
        )
        for row in newest.collect()
    }
