"""Python side of delta-scd2: the twins of its macros, for dbt Python models."""
