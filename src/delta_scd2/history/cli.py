"""The command `delta-scd2`."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from dbt.cli.resolvers import default_project_dir
from rich.console import Console

from delta_scd2.history.dimension import (
    Dimension,
    HistoryError,
    UnreadableError,
    key_options,
    key_text,
    open_dimension,
    open_project,
    parse_key,
    reading,
)
from delta_scd2.history.overview import Entry, overview
from delta_scd2.history.page import Links, model_in_site, page, page_data
from delta_scd2.history.terminal import printable, timeline_table
from delta_scd2.history.timeline import timeline

# In the directory of the project.
REPORT = Path("target", "report")
SITE = Path("target", "site")
INDEX = "index.html"


class _ErrorReportingGroup(click.Group):
    """Prints errors that the user can fix without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (HistoryError, OSError) as error:
            raise click.ClickException(_printable_lines(str(error))) from error


def _printable_lines(text: str) -> str:
    """Escape what a value in a message would have the terminal do."""
    return "\n".join(map(printable, text.split("\n")))


def _dbt_options(command: Callable[..., None]) -> Callable[..., None]:
    for name, text in (
        ("--vars", "Variables of dbt as YAML, as for dbt."),
        ("--target", "The target of dbt's profile."),
        ("--profile", "The profile, as for dbt."),
        ("--profiles-dir", "The directory of profiles.yml, as for dbt."),
        ("--project-dir", "The directory of dbt_project.yml, as for dbt."),
    ):
        command = click.option(name, help=text)(command)
    return command


@click.group(cls=_ErrorReportingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(context: click.Context) -> None:
    """Look into the history that a dimension holds."""
    # Ctrl-C ends the command at once: nothing can be lost, and Spark's traceback would not help.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    context.call_on_close(lambda: signal.signal(signal.SIGINT, handler))
    for stream in (sys.stdout, sys.stderr):
        # Not every locale has an arrow, or the characters of all values.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@main.command()
@click.argument("dimension")
@click.option("--key", "keys", multiple=True, help="The key; column=value, once for each column of it.")
@_dbt_options
def history(dimension: str, keys: tuple[str, ...], **dbt: str | None) -> None:
    """Print the versions of one key of DIMENSION, and what each of them changed."""
    with reading(dimension):
        opened = open_dimension(dimension, _arguments(dbt))
        if not keys:
            given = key_options(opened.keys)
            raise HistoryError(f"Name a key of {dimension} with {given}; examples: {_nearest(opened, ())}.")
        key = parse_key(keys, opened.keys)
        name = key_text(key, opened.keys)
        versions = opened.versions(key)
        if not versions:
            column = f" in {opened.keys[0]}" if name == keys[0] and "=" in name else ""
            raise HistoryError(f"{dimension} has no key {name}{column}; the nearest: {_nearest(opened, key)}.")
    steps = timeline(versions, opened.keeps_tombstones)
    title = f"{dimension}  {name}  (Delta version {opened.version})"
    console = Console(highlight=False)
    console.print(timeline_table(title, steps, opened.attributes, opened.tracked, console.width))


@main.command()
@click.argument("dimension", required=False)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Default: target/report/DIMENSION.html. Without DIMENSION a directory, by default target/report.",
)
@click.option("--keys", type=click.IntRange(0), default=500, show_default=True, help="How many keys can be looked up.")
@click.option("--versions", type=click.IntRange(1), default=100, show_default=True, help="How many versions of each.")
@_dbt_options
def report(dimension: str | None, output: Path | None, keys: int, versions: int, **dbt: str | None) -> None:
    """Write a page about DIMENSION: its loads, its keys, its columns, and timelines to look up.

    The figures count every row. The timelines are those of the keys with most versions.

    Without DIMENSION, write a page about each dimension of the project, and `index.html`, which
    lists them with their last loads.
    """
    root = project_root(dbt["project_dir"])
    # Pages that are written elsewhere may be moved, away from the documentation site.
    site = None if output else root / SITE
    if dimension is None:
        _report_all(output or root / REPORT, site, keys, versions, _arguments(dbt))
        return
    with reading(dimension):
        opened = open_dimension(dimension, _arguments(dbt))
        data = page_data(opened, keys, versions)
    output = output or root / REPORT / f"{opened.name}.html"
    index = output.parent / INDEX
    is_listed = index.is_file() and f'href="{quote(output.name)}"' in index.read_text(
        encoding="utf-8", errors="replace"
    )
    links = Links(INDEX if is_listed else None, model_in_site(site, opened.unique_id, output.parent))
    _write(dimension, output, page(data, links))


def _report_all(directory: Path, site: Path | None, keys: int, versions: int, arguments: list[str]) -> None:
    project, members = open_project(arguments)
    entries, unreadable = [], []
    for member in members:
        file = directory / f"{member.name}.html"
        try:
            with reading(member.name):
                opened = member.open()
                data = page_data(opened, keys, versions)
        except HistoryError as error:
            entries.append(Entry(member, problem=str(error)))
            file.unlink(missing_ok=True)
            if isinstance(error, UnreadableError):
                unreadable.append(str(error))
            else:
                click.echo(_printable_lines(str(error)))
            continue
        links = Links(INDEX, model_in_site(site, opened.unique_id, directory))
        _write(member.name, file, page(data, links))
        entries.append(Entry(member, data["totals"], quote(file.name), data["committed_at"]))
    start = site and site / INDEX
    links = Links(site=quote(os.path.relpath(start, directory)) if start and start.is_file() else None)
    _write("all dimensions", directory / INDEX, overview(project, entries, links))
    if unreadable:
        raise UnreadableError("\n".join(unreadable))


def project_root(given: str | None) -> Path:
    """The directory of the project, found as dbt finds it, seen from the current one."""
    return Path(os.path.relpath(given or os.environ.get("DBT_PROJECT_DIR") or default_project_dir()))


def _nearest(dimension: Dimension, key: Sequence[str]) -> str:
    """The keys of a dimension that look most like another one; of an empty one, the shortest."""
    nearest = [key_text(other, dimension.keys) for other in dimension.nearest(key)]
    return "; ".join(nearest) or "none, because it is empty"


def _write(name: str, file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    click.echo(f"{name}: {file} ({len(text.encode()) / 1024:,.0f} KiB)")


def _arguments(options: dict[str, str | None]) -> list[str]:
    """The options that are set, as arguments for dbt."""
    return [
        word for name, value in options.items() if value is not None for word in (f"--{name.replace('_', '-')}", value)
    ]
