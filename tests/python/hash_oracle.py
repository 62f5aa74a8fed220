"""The hash format of docs/decisions/0002-hash-format.md in plain Python, for values as Spark collects them.

A timestamp is a datetime with a time zone, a timestamp_ntz one without; a struct is a tuple.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from struct import pack, unpack
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def hash_of(values: Iterable[Any]) -> str:
    return hashlib.sha256(joined(values).encode()).hexdigest()


def joined(values: Iterable[Any]) -> str:
    return "|".join(field(value) for value in values)


def field(value: Any) -> str:
    return r"\N" if value is None else text(value).replace("\\", r"\\").replace("|", r"\|")


def text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return value
        case int():
            return str(value)
        case float():
            whole = value.is_integer() and abs(value) < 2**53
            return str(int(value)) if whole else f"x{xxhash64(value)}"
        case Decimal():
            digits = f"{value:f}"
            return digits.rstrip("0").rstrip(".") if "." in digits else digits
        case bytes():
            return value.hex().upper()
        case datetime(tzinfo=None):
            seconds, _, fraction = value.isoformat(" ", "microseconds").partition(".")
            return f"{seconds}.{fraction}".rstrip("0").rstrip(".")
        case datetime():
            return str((value - EPOCH) // timedelta(microseconds=1))
        case date():
            return str((value - EPOCH.date()).days)
        case tuple():
            return joined(value)
        case list():
            return f"{len(value)}:{joined(value)}"
        case dict():
            entries = sorted(value.items(), key=lambda entry: field(entry[0]).encode())
            return f"{len(value)}:{joined(item for entry in entries for item in entry)}"
    raise AssertionError(f"no text for {value!r}")


def xxhash64(value: float) -> int:
    """XXH64 of the eight bytes of a double, with Spark's seed 42, as a signed number."""
    prime1, prime2, prime3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    prime4, prime5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    mask = 2**64 - 1

    def rotated(number: int, by: int) -> int:
        return (number << by | number >> (64 - by)) & mask

    (bits,) = unpack("<Q", pack("<d", value)) if value == value else (0x7FF8000000000000,)
    state = (42 + prime5 + 8) & mask
    state ^= rotated(bits * prime2 & mask, 31) * prime1 & mask
    state = (rotated(state, 27) * prime1 + prime4) & mask
    state = (state ^ state >> 33) * prime2 & mask
    state = (state ^ state >> 29) * prime3 & mask
    (signed,) = unpack("<q", pack("<Q", state ^ state >> 32))
    return int(signed)
