"""Python side of delta-scd2: the twins of its macros, for dbt Python models."""

from delta_scd2.hashing import hash_diff, hash_key
from delta_scd2.point_in_time import as_of, as_of_join, current

__all__ = ["as_of", "as_of_join", "current", "hash_diff", "hash_key"]
