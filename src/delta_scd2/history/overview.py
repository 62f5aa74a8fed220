"""Renders the page that lists all dimensions of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delta_scd2.history.dimension import Member
from delta_scd2.history.load_log import LastLoad
from delta_scd2.history.page import Links, clipped
from delta_scd2.history.templates import template
from delta_scd2.history.timeline import timestamp_text

FIGURES = ("keys", "live", "versions")


@dataclass(frozen=True)
class Entry:
    """A dimension in the list.

    Attributes:
        member: The dimension.
        figures: The numbers named in `FIGURES`; None if the dimension could not be read.
        address: Its page, relative to the list; empty if it has none.
        written_at: The time of the newest commit of its table; empty if it has none.
        problem: Why the dimension cannot be read, and what to do; empty if it can.
    """

    member: Member
    figures: Mapping[str, int] | None = None
    address: str = ""
    written_at: str = ""
    problem: str = ""


def overview(project: str, entries: Sequence[Entry], links: Links) -> str:
    """Render the list of the dimensions of a project.

    Args:
        project: The name of the project.
        entries: Its dimensions, in the order of the list.
        links: Where the page leads to, beside the pages of the dimensions.
    """
    read = [entry.figures for entry in entries if entry.figures is not None]
    return template("overview.html.j2").render(
        project=project,
        links=links,
        rows=[(entry, entry.member.last_load and _load_data(entry.member.last_load)) for entry in entries],
        names=FIGURES,
        totals={name: sum(figures[name] for figures in read) for name in FIGURES},
    )


def _load_data(load: LastLoad) -> dict[str, str]:
    # A number is not parted from its word.
    counts = [f"{count:,}\u00a0{effect}" for effect, count in load.effects.items() if count]
    did = ", ".join(counts) or ("no version changed" if load.effects else "")
    message = clipped(" ".join(load.message.split()))
    return {
        "at": timestamp_text(load.at - load.at % 1_000_000),
        "status": load.status,
        "what": {"undone": "undone", "error": f"failed: {message}"}.get(load.status, did),
    }
