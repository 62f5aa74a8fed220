"""The templates of the pages; each page is one file that asks nobody for anything."""

from __future__ import annotations

import functools
import re

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape


def template(name: str) -> Template:
    """A template of this package, for which every value is text."""
    return _templates().get_template(name)


@functools.cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("delta_scd2.history", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    templates.filters["bar"] = bar_width
    templates.filters["thousands"] = "{:,}".format
    templates.filters["with_code"] = with_code
    return templates


def bar_width(value: int, longest: int) -> str:
    """The length of a bar in percent; large enough to be visible unless the value is 0."""
    return f"{max(100 * value / longest, 0.5 if value else 0):.2f}" if longest else "0"


def with_code(text: str) -> Markup:
    """Text as HTML, in which a word in backquotes is code, as descriptions and messages write it."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  # escaped before
