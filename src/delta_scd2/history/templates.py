"""The templates of the pages; each page is one file that asks nobody for anything."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(name: str) -> Template:
    """A template of this package, for which every value is text."""
    templates = Environment(
        loader=PackageLoader("delta_scd2.history", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    templates.filters["bar"] = bar_width
    return templates.get_template(name)


def bar_width(value: int, longest: int) -> str:
    """The length of a bar in percent; large enough to be visible unless the value is 0."""
    return f"{max(100 * value / longest, 0.5 if value else 0):.2f}" if longest else "0"
