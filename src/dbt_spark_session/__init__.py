"""Runs dbt Python models inside dbt's own process and Spark session."""
