"""What changes are called, and the placeholders for values that did not come."""

from __future__ import annotations

from base64 import b64encode

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

KINDS = {
    "upsert": ["insert", "update", "upsert", "update_after", "update_postimage", "i", "u", "c", "r"],
    "delete": ["delete", "d"],
    "before": ["update_before", "update_preimage"],
}

# Debezium's placeholder for a large value that an update did not change.
UNAVAILABLE_VALUE = "__debezium_unavailable_value"


def kind_of(change_type: Column) -> Column:
    """Map a change type to its kind; null for null and unknown values. A char is padded."""
    word = F.lower(F.rtrim(change_type.cast("string")))
    return F.coalesce(*(F.when(word.isin(words), kind) for kind, words in KINDS.items()))


def check_placeholder(placeholder: str) -> None:
    """Raise an error for an empty placeholder, which every empty text would be taken for."""
    if not placeholder:
        raise ValueError("`unavailable_value` is ``, expected a text.")


def is_unavailable(value: Column, placeholder: str) -> Column:
    """Whether a value is the placeholder, as text or bytes (also base64 or hex), array or map."""
    raw = placeholder.encode()
    texts = [placeholder, b64encode(raw).decode(), raw.hex(), f"[{placeholder}]", str(list(raw))]
    return F.coalesce(value.cast("string").isin(*texts, f"{{{placeholder} -> {placeholder}}}"), F.lit(False))


def is_reserved(name: str) -> bool:
    """Whether only the functions of this package may give a column this name."""
    return name.startswith("_change_")


def in_merge(name: str) -> str:
    """The name of a changelog column in the MERGE; the plain name is the column of the copy."""
    return f"_change_new_{name}"
