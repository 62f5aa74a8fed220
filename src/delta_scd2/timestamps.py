"""Parses timestamps: the twin of the macro `ts_micros`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

_ISO_8601 = re.compile(
    r"([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})"
    r"(?:[Tt ]([0-9]{2})(?:(:?)([0-9]{2})(?:\6([0-9]{2})(?:[.,]([0-9]{1,6})0*)?)?)?"
    r" ?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?"
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Options of `to_json`, which by default writes milliseconds.
JSON_TIMES = dict.fromkeys(("timestampFormat", "timestampNTZFormat"), "yyyy-MM-dd HH:mm:ss.SSSSSS")


def utc_timestamp(value: str | date) -> datetime:
    """Convert a timestamp to UTC. Without an offset it is in UTC; a date alone means midnight.

    Args:
        value: A date, a datetime, or ISO 8601, as `2024-01-31` or `2024-01-31T12:30:00.5+02:00`.

    Raises:
        ValueError: It is not a valid time in the years 1 to 9999.
    """
    no_time = f"`{value}` is not a time: write it like 2024-01-31T12:30:00Z."
    if isinstance(value, datetime):
        try:
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
        except OverflowError as error:
            raise ValueError(no_time) from error
    parts = _ISO_8601.fullmatch(str(value).strip())
    if parts is None:
        raise ValueError(no_time)
    year, _, month, day, hour, _, minute, second, fraction, sign, offset_hours, offset_minutes = parts.groups(
        default="0"
    )
    try:
        if int(offset_minutes) > 59:
            raise ValueError
        offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
        zone = timezone(-offset if sign == "-" else offset)
        day_begins = datetime(int(year), int(month), int(day), tzinfo=zone)
        timestamp = day_begins.replace(
            hour=int(hour), minute=int(minute), second=int(second), microsecond=int(fraction.ljust(6, "0"))
        )
        return timestamp.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(no_time) from error
