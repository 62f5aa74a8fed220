"""Python side of delta-scd2: the twins of its macros, for dbt Python models."""

from delta_scd2.hashing import hash_diff, hash_key

__all__ = ["hash_diff", "hash_key"]
