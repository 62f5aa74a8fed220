"""Python twins of the macros of delta-scd2, for dbt Python models."""

from delta_scd2.changelog.apply import apply_changelog
from delta_scd2.changelog.feed import changelog
from delta_scd2.changelog.flatten import flatten_changelog
from delta_scd2.changelog.latest import latest_changes
from delta_scd2.combined_histories import History, combine_histories
from delta_scd2.hashing import hash_diff, hash_key
from delta_scd2.point_in_time import as_of, as_of_join, current

__all__ = [
    "History",
    "apply_changelog",
    "as_of",
    "as_of_join",
    "changelog",
    "combine_histories",
    "current",
    "flatten_changelog",
    "hash_diff",
    "hash_key",
    "latest_changes",
]
