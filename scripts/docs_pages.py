"""Gather the pages of the documentation site, from which MkDocs builds it.

The README is the front page. A page or picture of the repository that a page links to comes along;
another file comes as a page that shows its text, and a folder as a list of its files. So every link
works within the site. Pages on the macros, the tests and the models are made from what dbt knows,
the page on the functions from their docstrings, and the lists of all commands from the Makefile and
from click.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import yaml

import delta_scd2
from delta_scd2.history.cli import main as command_line

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
ROOTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", "docs")
PICTURES = (".svg", ".png")
LANGUAGES = {".sql": "sql+jinja", ".py": "python", ".yml": "yaml", ".csv": "text"}

FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]+)?\)")
MACROS = """# Macros

What models and operations may call, by the folders of `macros`. The names have the prefix
`delta_scd2.` in a model. The macros that a load or dbt itself calls may change in any release; they
are in [dbt's documentation](../dbt/index.html).
"""
# What a load, dbt or the demo calls.
INTERNAL = {"demo", "overrides", "scd1", "scd2", "spark"}
PYTHON = """# Python

What dbt Python models may call: the twins of macros, which return DataFrames and columns instead of
SQL. Import them from `delta_scd2`, for example `from delta_scd2 import as_of`.
"""
TESTS = """# Tests

Data tests of a dimension, or of another table. The names have the prefix `delta_scd2.` in YAML.
"""
OPTIONS = """## Options of the dimensions

What the configuration of each dimension sets. All other options have
[their defaults](reference/options.md).
"""
# The search finds prose, not code.
UNSEARCHED = "---\nsearch: {exclude: true}\n---\n\n"


def place(path: str) -> str:
    """Where in the site a file or folder of the repository stands."""
    if path == "README.md":
        return "index.md"
    if path == "docs/decisions":
        return "decisions/index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.endswith(".md") or path.endswith(PICTURES):
        return path
    return f"source/{path}.md" if (ROOT / path).is_file() else f"source/{path}/index.md"


def prose(text: str, change: Callable[[str], str]) -> str:
    """The text with everything outside of its code blocks changed."""
    return "".join(part if FENCED.fullmatch(part) else change(part) for part in FENCED.split(text))


def with_links(text: str, path: str, linked: list[str]) -> str:
    """The text of a page with links as the site needs them; appends what they lead to."""

    def link(found: re.Match[str]) -> str:
        target = os.path.relpath((ROOT / path).parent / found[1], ROOT)
        linked.append(target)
        return f"]({os.path.relpath(place(target), Path(place(path)).parent)}{found[2] or ''})"

    return prose(text, lambda part: LINK.sub(link, part))


def source_page(path: str) -> str:
    """A page that shows a file, or lists the files of a folder."""
    source = ROOT / path
    if source.is_dir():
        names = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in source.iterdir())
        shown = "\n".join(f"- `{name}`" for name in names if not name.startswith(("_", ".")))
        return f"{UNSEARCHED}# {path}\n\n{shown}\n"
    language = LANGUAGES.get(source.suffix, "text")
    return f"{UNSEARCHED}# {path}\n\n````{language}\n{source.read_text().rstrip()}\n````\n"


def decisions_page() -> str:
    rows = []
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        title = path.read_text().partition("\n")[0].lstrip("# ")
        rows.append(f"- [{title}]({path.name})")
    return "# Decisions\n\n" + "\n".join(rows) + "\n"


def make_commands() -> str:
    """A table of the commands that `make help` lists."""
    found = re.findall(r"^([a-z-]+):.*?## (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    # A text in brackets would be taken for a reference.
    rows = [f"| `make {name}` | {text} |".replace("[", "\\[") for name, text in found]
    return "\n".join(["### All commands of make\n", "| command | what it does |", "| --- | --- |", *rows])


def delta_scd2_commands() -> str:
    """The help of each command of `delta-scd2`, with a table of its options."""
    parts = []
    for name, command in command_line.commands.items():
        context = click.Context(command, info_name=name)
        usage = " ".join(["delta-scd2", name, *command.collect_usage_pieces(context)])
        records = [record for record in (each.get_help_record(context) for each in command.params) if record]
        rows = [f"| `{option}` | {text} |" for option, text in records]
        table = "\n".join(["| option | meaning |", "| --- | --- |", *rows])
        parts += [f"### delta-scd2 {name}", f"`{usage}`", inspect.cleandoc(command.help or ""), table]
    return "\n\n".join(parts)


# What takes the place of a comment in a page.
MADE = {"<!-- make commands -->": make_commands, "<!-- delta-scd2 commands -->": delta_scd2_commands}


def with_made_parts(text: str) -> str:
    for comment, made in MADE.items():
        if comment in text:
            text = text.replace(comment, made())
    return text


def described_page(introduction: str, files: Iterable[Path]) -> str:
    """A page on the public macros that YAML files describe, with their arguments."""
    parts = [introduction]
    for file in files:
        described = [
            macro
            for macro in yaml.safe_load(file.read_text())["macros"]
            if not macro["description"].startswith("Internal.")
        ]
        if not described:
            continue
        parts.append(f"## {file.parent.name}\n")
        for macro in described:
            parts.append(f"### {macro['name'].removeprefix('test_')}\n\n{' '.join(macro['description'].split())}\n")
            arguments = [
                f"| `{argument['name']}` | `{argument['type']}` | {' '.join(argument['description'].split())} |"
                for argument in macro.get("arguments", [])
            ]
            if arguments:
                table = "\n".join(["| argument | type | meaning |", "| --- | --- | --- |", *arguments])
                parts.append(table + "\n")
    return "\n".join(parts)


def python_page() -> str:
    """A page on the public functions, whose docstrings mkdocstrings renders."""
    functions = [getattr(delta_scd2, name) for name in delta_scd2.__all__]
    return PYTHON + "".join(f"\n::: {function.__module__}.{function.__name__}\n" for function in functions)


def history_file(node: Json) -> str:
    """The name of the page on the history of a dimension, as `delta-scd2 report` writes it."""
    return f"{name_of(node)}.html"


def history_link(node: Json, report: Path) -> str:
    """A link to the page on the history of a dimension, if `delta-scd2 report` has written it."""
    if node["config"]["materialized"] != "scd2":
        return ""
    file = history_file(node)
    # MkDocs does not know what comes into the site after it.
    return f'<a href="report/{file}">history</a>' if (report / file).exists() else ""


def lineage_page(model: str) -> str:
    """The address of the lineage of a model and of what it is made from."""
    return f"lineage/index.html?model={model}&parents=5"


def first_with_lineage(manifest: Json) -> str | None:
    """The model with which the lineage begins: the first dimension in SQL that is made from another model."""
    names = [
        name
        for name, node in sorted(manifest["nodes"].items())
        if node["config"]["materialized"] == "scd2" and node["language"] == "sql" and node["depends_on"]["nodes"]
    ]
    return next(iter(names), None)


def layers_in_order(names: Iterable[str]) -> list[str]:
    """Layers in the order of the data, which the overview of the models tells; others follow by name."""
    overview = (ROOT / "models" / "overview.md").read_text()
    order = re.findall(r"^\| (\w+) \|", overview, re.MULTILINE)
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def name_of(node: Json) -> str:
    """The name of a model, with its version if it has one."""
    return f"{node['name']}.v{node['version']}" if node.get("version") is not None else str(node["name"])


def options_section(manifest: Json) -> str:
    """The options that the configuration of each dimension sets, without what the table of models tells."""
    parts = []
    for _, node in sorted(manifest["nodes"].items()):
        if node["config"]["materialized"] == "scd2":
            written = {*node.get("unrendered_config", {})} - {"materialized", "schema", "file_format"}
            options = [
                # Two backquotes, for the SQL of a hook may hold one.
                f"- `{name}`: `` {json.dumps(value, ensure_ascii=False, sort_keys=True)} ``"
                for name, value in sorted(node["config"].items())
                if name in written
            ]
            parts.append("\n".join([f"### {name_of(node)}\n", *options, ""]))
    return "\n".join([OPTIONS, *parts]) if parts else ""


def models_page(manifest: Json, report: Path) -> str:
    """A page that leads to dbt's documentation and the lineage, with a list of the models by layer.

    Args:
        manifest: What dbt knows of the project.
        report: The directory of the pages on histories, which are copied into the site.
    """
    metadata = manifest["metadata"]
    layers: dict[str, list[str]] = {}
    for name, node in sorted(manifest["nodes"].items()):
        if node["resource_type"] == "model":
            sentence = " ".join(node["description"].split()).split(". ")[0].rstrip(".").replace("|", "\\|")
            links = (
                f"[{node['name']}](dbt/index.html#!/model/{name})",
                sentence,
                f"[lineage]({lineage_page(name)}) {history_link(node, report)}".rstrip(),
            )
            layers.setdefault(node["fqn"][1], []).append(f"| {' | '.join(links)} |")
    first = first_with_lineage(manifest)
    # Without a model, the page opens on one without what it is made from.
    lineage = lineage_page(first) if first else "lineage/index.html"
    tables = [
        "\n".join([f"## {layer}\n", "| model | what it is | |", "| --- | --- | --- |", *layers[layer], ""])
        for layer in layers_in_order(layers)
    ]
    return "\n".join(
        [
            "# Models and lineage\n",
            f"The models of `{metadata['project_name']}`, as dbt {metadata['dbt_version']} knew them on"
            f" {metadata['generated_at'][:16].replace('T', ' ')} UTC.\n",
            "- [Models, tests and macros](dbt/index.html): descriptions, columns, code and the graph of"
            " models, in dbt's own documentation.",
            f"- [Lineage of columns]({lineage}): which columns a column is made from, through all"
            " layers. The code of a Python model is not looked into: its columns come from those of the"
            " same name in what it reads.",
            "- Histories: `delta-scd2 report` writes"
            " [a page about each dimension](guides/look-into-a-history.md#all-dimensions) in `target/report`."
            " Those that were there when this site was built are part of it, and linked below.\n",
            *tables,
            options_section(manifest),
        ]
    )


def write_pages(directory: Path, manifest: Json) -> None:
    """Write all pages of the site into an empty directory."""
    shutil.rmtree(directory, ignore_errors=True)

    def write(name: str, text: str) -> None:
        page = directory / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)

    waiting = [path for root in ROOTS for path in files_of(root)]
    done = {"docs/decisions"}
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        if path.endswith(".md"):
            write(place(path), with_links(with_made_parts((ROOT / path).read_text()), path, waiting))
        elif place(path).startswith("source/"):
            write(place(path), source_page(path))
        else:
            (directory / place(path)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, directory / place(path))
    write("decisions/index.md", decisions_page())
    macros = ROOT / "macros"
    files = [file for file in sorted(macros.rglob("*.yml")) if file.relative_to(macros).parts[0] not in INTERNAL]
    write("reference/macros.md", described_page(MACROS, files))
    write("reference/python.md", python_page())
    write("reference/tests.md", described_page(TESTS, (ROOT / "tests" / "generic").glob("*.yml")))
    write("models.md", models_page(manifest, directory.parent / "report"))
    # Others replace these two after the build.
    for name in ("dbt", "lineage"):
        write(
            f"{name}/index.html", f"<!doctype html><title>{name}</title><p>Not made: see what `make docs` said.</p>\n"
        )


def files_of(root: str) -> list[str]:
    path = ROOT / root
    found = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return [str(file.relative_to(ROOT)) for file in found]
