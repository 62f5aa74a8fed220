"""Renders a dimension as a self-contained HTML file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from delta_scd2.history.dimension import Dimension, Load, key_text
from delta_scd2.history.templates import template
from delta_scd2.history.timeline import Step, Version, duration_text, timeline, timestamp_text

KINDS = ("new", "changed", "returned", "deleted")

# Limits for readability.
MOST_LOADS = 40
MOST_BARS = 12
LONGEST_TEXT = 200

NAVIGATION = re.compile("<nav>.*?</nav>", re.DOTALL)


@dataclass(frozen=True)
class Links:
    """Addresses to which a page leads, relative to it; None where nothing is.

    Attributes:
        overview: The page that lists all dimensions.
        model: The model in dbt's documentation.
        site: The documentation site.
    """

    overview: str | None = None
    model: str | None = None
    site: str | None = None


def page(data: Mapping[str, Any], links: Links) -> str:
    """Render the page of a dimension.

    Args:
        data: What `page_data` returns.
        links: Where the page leads to.
    """
    # The bars are scaled without the first load, which adds every key.
    later = data["loads"][1:] or data["loads"]
    longest_load = max((load[kind] for load in later for kind in KINDS), default=0)
    largest = max((load[kind] for load in data["loads"] for kind in KINDS), default=0)
    kinds = [kind for kind in KINDS if kind != "returned" or any(load[kind] for load in data["loads"])]
    return template("page.html.j2").render(
        data=data, links=links, kinds=kinds, longest_load=longest_load, largest=largest
    )


def with_links(text: str, links: Links) -> str:
    """A page that is there already, with these links in place of its own."""
    return NAVIGATION.sub(lambda _: template("nav.html.j2").render(links=links), text, count=1)


def model_in_site(site: Path | None, unique_id: str, directory: Path) -> str | None:
    """The address of a model in the documentation site, seen from a directory; None if it is not there."""
    documentation = site and site / "dbt" / "index.html"
    if not documentation or not documentation.is_file():
        return None
    if f'"{unique_id}"' not in documentation.read_text(encoding="utf-8"):
        return None
    return f"{quote(os.path.relpath(documentation, directory))}#!/model/{unique_id}"


def page_data(dimension: Dimension, keys: int, versions: int) -> dict[str, Any]:
    """The data of the page, also embedded in it as JSON.

    Args:
        dimension: The dimension; the figures count all its rows.
        keys: The number of keys that can be looked up, those with the most versions.
        versions: The number of versions shown for each of them, the newest.
    """
    keys_by_versions = dimension.keys_by_versions()
    loads = dimension.loads(MOST_LOADS)
    live = sum(load.new + load.returned - load.deleted for load in loads)
    key_count = sum(keys_by_versions.values())
    return {
        "dimension": dimension.name,
        "keys": dimension.keys,
        "columns": dimension.attributes,
        "tracked": dimension.tracked,
        "delta_version": dimension.version,
        "committed_at": dimension.committed_at.strftime("%Y-%m-%d %H:%M:%S"),
        "until": int(dimension.committed_at.timestamp() * 1000),
        "has_unknown_member": dimension.has_unknown_member,
        "totals": {
            "keys": key_count,
            "live": live,
            "deleted": key_count - live,
            "versions": sum(versions * count for versions, count in keys_by_versions.items()),
        },
        "loads": loads_by_calendar(loads, MOST_LOADS),
        "keys_by_versions": distribution(keys_by_versions, MOST_BARS),
        "changes_by_column": [
            {"column": column, "times": times}
            for column, times in sorted(dimension.changes_by_column().items(), key=lambda item: (-item[1], item[0]))
        ],
        "timelines": [
            _timeline_data(dimension, key, own_versions, rows, newest, versions)
            for key, own_versions, rows, newest in dimension.longest(keys, versions + 1)
        ],
    }


def loads_by_calendar(loads: Sequence[Load], limit: int) -> list[dict[str, Any]]:
    """Group loads by time, day, month or year, whichever is finest with at most `limit` rows.

    `live` is the number of keys that exist afterwards.
    """
    for length in (None, len("2024-01-01"), len("2024-01"), len("2024")):
        rows: dict[str, dict[str, Any]] = {}
        live = 0
        for load in loads:
            at = timestamp_text(load.at)[:length]
            row = rows.setdefault(at, {"at": at, **dict.fromkeys(KINDS, 0)})
            for kind in KINDS:
                row[kind] += getattr(load, kind)
            live += load.new + load.returned - load.deleted
            row["live"] = live
        if len(rows) <= limit:
            break
    return list(rows.values())


def distribution(keys_by_versions: Mapping[int, int], limit: int) -> list[dict[str, Any]]:
    """Keys by number of versions; by ranges that double if there are more than `limit` numbers."""
    if len(keys_by_versions) <= limit:
        return [{"versions": str(number), "keys": count} for number, count in sorted(keys_by_versions.items())]
    ranges: dict[int, int] = {}
    for number, count in sorted(keys_by_versions.items()):
        power = (number - 1).bit_length()
        ranges[power] = ranges.get(power, 0) + count
    return [
        {"versions": str(2**power) if power < 2 else f"{2 ** (power - 1) + 1}–{2**power}", "keys": count}  # noqa: RUF001
        for power, count in ranges.items()
    ]


def _timeline_data(
    dimension: Dimension, key: Sequence[str], versions: int, rows: int, newest: Sequence[Version], limit: int
) -> dict[str, Any]:
    steps = timeline(newest, dimension.keeps_tombstones)
    if len(newest) > limit:
        # The oldest version is only needed to compare the next one with it.
        steps = [step for step in steps if step.begins >= newest[1].begins]
    text = key_text(key, dimension.keys)
    return {
        # The whole text is searched for, and is the address of the key.
        "key": text,
        "label": clipped(text),
        "earlier": max(rows - limit, 0),
        "versions": versions,
        "steps": [_step_data(step) for step in steps],
    }


def _step_data(step: Step) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kind": step.kind,
        "from": timestamp_text(step.begins),
        "to": None if step.ends is None else timestamp_text(step.ends),
        "begins": step.begins // 1000,
        "ends": None if step.ends is None else step.ends // 1000,
        "changes": [[change.position, clipped(change.old), clipped(change.new)] for change in step.changes],
    }
    if step.kind == "absent" and step.ends is not None:
        data["lasted"] = duration_text(step.ends - step.begins)
    if step.kind == "new" and step.version is not None:
        data["values"] = [clipped(value) for value in step.version.values]
    if step.version is not None:
        data["current"], data["deleted"] = step.version.is_current, step.version.is_deleted
    return data


def clipped(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
