"""Runs dbt Python models in dbt's own process and session, and cancels Spark work on a stop.

dbt imports this package at start-up because its name starts with `dbt_`; the import registers it.
"""

from dbt_spark_session.dataframes import to_spark_dataframe, write_table
from dbt_spark_session.registration import register

__all__ = ["to_spark_dataframe", "write_table"]

register()
