"""Runs dbt Python models inside dbt's own process and Spark session, and stops what runs there when dbt is to end.

dbt imports this package at start-up because its name begins with `dbt_`; importing it is what registers it.
"""

from dbt_spark_session.dataframes import to_spark_dataframe
from dbt_spark_session.registration import register

__all__ = ["to_spark_dataframe"]

register()
