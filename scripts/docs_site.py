"""Build the documentation site in `target/site`: dbt's docs, column lineage, and an index page.

Reads the output of `dbt docs generate --static` and `dbt run-operation print_lineage_sql` in
`target/`. dbt-colibri derives the lineage from the SQL of the models; models that it cannot parse
are replaced by equivalent SQL first.
"""

from __future__ import annotations

import html
import json
import logging
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import sqlglot
from dbt_colibri.lineage_extractor.extractor import DbtColumnLineageExtractor
from dbt_colibri.report.generator import DbtColibriReportGenerator
from sqlglot.errors import SqlglotError

Json = dict[str, Any]

# dbt-colibri does not support Spark; the SQL of Databricks is a superset.
DIALECT = "databricks"
BUILT = ("model", "seed", "snapshot")

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{project}</title>
<style>
  :root {{ color-scheme: light dark; --quiet: light-dark(#5b6470, #9aa4b1); --line: light-dark(#d9dee5, #343b45); }}
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 3rem auto; padding: 0 1.5rem; }}
  h1 {{ margin-bottom: .2rem; }}
  h2 {{ font-size: 1.15rem; margin: 2.2rem 0 .6rem; }}
  p {{ max-width: 46rem; }}
  .quiet, td:nth-child(2) {{ color: var(--quiet); }}
  .doors {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem; margin: 1.6rem 0; }}
  .doors a {{ border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.2rem; color: inherit; }}
  .doors a {{ text-decoration: none; }}
  .doors a:hover {{ border-color: currentcolor; }}
  .doors strong {{ display: block; }}
  table {{ border-collapse: collapse; width: 100%; }}
  td {{ border-top: 1px solid var(--line); padding: .45rem 1.2rem .45rem 0; vertical-align: top; }}
</style>
</head>
<body>
<h1>{project}</h1>
<p class="quiet">Made by dbt {dbt_version} on {made_at} UTC.</p>
<div class="doors">
  <a href="dbt/index.html"><strong>Models, tests and macros</strong>
    Descriptions, columns, code and the graph of models: dbt's own documentation.</a>
{lineage}
</div>
{layers}
</body>
</html>
"""
LINEAGE_DOOR = """  <a href="lineage/index.html"><strong>Lineage of columns</strong>
    Which columns a column is made from, through all layers.</a>
</div>
<p class="quiet">Of a model in Python, the lineage shows a column as coming from the column of the same name in what the
model reads: its code is not looked into.</p>
<div>"""


class LineageError(Exception):
    """The lineage is incomplete; the text names the missing models and columns."""


def readable_manifest(manifest: Json, catalog: Json, lineage_sql: dict[str, str]) -> Json:
    """Adapt the manifest for dbt-colibri: dialect, relation names, and SQL for each model."""
    manifest["metadata"]["adapter_type"] = DIALECT
    nodes = {**manifest["nodes"], **manifest["sources"]}
    for node in nodes.values():
        # A relation name must have three parts; in Spark it has no database.
        if node.get("relation_name"):
            node["relation_name"] = "." + node["relation_name"]
        # The database is required even for an ephemeral model, which has no relation.
        node["database"] = "spark_catalog"
    for name, node in manifest["nodes"].items():
        if node["resource_type"] != "model" or node.get("compiled_code") is None:
            continue
        if node["language"] == "python":
            node["compiled_code"] = same_names_sql(name, manifest, catalog)
            node["path"] = node["path"].removesuffix(".py") + ".sql"
        if name in lineage_sql:
            node["compiled_code"] = f"with model_rows as (\n{node['compiled_code']}\n)\n\n{lineage_sql[name]}"
    return manifest


def same_names_sql(name: str, manifest: Json, catalog: Json) -> str:
    """SQL that stands in for a Python model: it selects every column of its parents, by name.

    Of columns with the same name, the first parent's is used. A model without parents selects null
    for each of its own columns.
    """
    nodes = {**manifest["nodes"], **manifest["sources"]}
    known = {**catalog["nodes"], **catalog["sources"]}
    columns: dict[str, str] = {}
    parents = [parent for parent in manifest["nodes"][name]["depends_on"]["nodes"] if parent in known]
    if not parents:
        own = known.get(name, {"columns": {}})["columns"]
        return f"select {', '.join(f'null as `{column}`' for column in own) or 'null'}"
    for number, parent in enumerate(parents):
        for column in known[parent]["columns"]:
            columns.setdefault(column, f"parent_{number}.`{column}`")
    tables = (
        f"{nodes[parent]['relation_name'].lstrip('.')} as parent_{number}" for number, parent in enumerate(parents)
    )
    return f"select {', '.join(columns.values())} from {' cross join '.join(tables)}"


class Complaints(logging.Handler):
    """Collects the errors and warnings that dbt-colibri only logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def without_what_cannot_be_read(manifest: Json, catalog: Json) -> list[str]:
    """Remove nodes without a table and models with unreadable SQL; return a message for each."""
    unbuilt = [
        name
        for name, node in manifest["nodes"].items()
        if node["resource_type"] in BUILT
        and node["config"]["materialized"] != "ephemeral"
        and name not in catalog["nodes"]
    ]
    problems = ["run `make build` first: these have no table, hence no known columns:", *unbuilt] if unbuilt else []
    unreadable = []
    for name, node in manifest["nodes"].items():
        if node["resource_type"] == "model" and node.get("compiled_code") is not None and name not in unbuilt:
            try:
                sqlglot.parse_one(node["compiled_code"], dialect=DIALECT)
            except SqlglotError as error:
                unreadable.append(f"{name}: {str(error).splitlines()[0]}")
    if unreadable:
        problems += ["dbt-colibri cannot read the SQL of:", *unreadable]
    left_out = {*unbuilt, *(text.partition(":")[0] for text in unreadable)}
    for name in left_out:
        del manifest["nodes"][name]
    for links in (manifest["parent_map"], manifest["child_map"]):
        for name in left_out:
            links.pop(name, None)
        for name, linked in links.items():
            links[name] = [other for other in linked if other not in left_out]
    for node in manifest["nodes"].values():
        parents = node.get("depends_on", {}).get("nodes", [])
        parents[:] = [parent for parent in parents if parent not in left_out]
    return problems


def write_lineage(target: Path, directory: Path) -> None:
    """Write the lineage page; then raise LineageError if it is incomplete."""
    manifest = json.loads((target / "manifest.json").read_text())
    catalog = json.loads((target / "catalog.json").read_text())
    lineage_sql = json.loads((target / "lineage_sql.json").read_text())
    readable = readable_manifest(manifest, catalog, lineage_sql)
    problems = without_what_cannot_be_read(readable, catalog)
    (target / "lineage_manifest.json").write_text(json.dumps(readable))
    complaints = Complaints()
    logging.getLogger("colibri").addHandler(complaints)
    try:
        extractor = DbtColumnLineageExtractor(str(target / "lineage_manifest.json"), str(target / "catalog.json"))
        # Otherwise the page sends usage data to the makers of dbt-colibri.
        generator = DbtColibriReportGenerator(extractor, disable_telemetry=True)
        generator.generate_report(output_dir=str(directory))
    # Any failure of dbt-colibri must not affect the rest of the site.
    except Exception as error:
        problems.append(f"dbt-colibri failed: {type(error).__name__}: {error}")
    finally:
        logging.getLogger("colibri").removeHandler(complaints)
    if complaints.messages:
        problems += ["dbt-colibri could not follow all columns:", *complaints.messages]
    if problems:
        raise LineageError("\n  ".join(problems))


def write_index(target: Path, page: Path) -> None:
    """Write the index page, with a list of the models by layer."""
    manifest = json.loads((target / "manifest.json").read_text())
    has_lineage = (page.parent / "lineage" / "index.html").exists()
    layers: dict[str, list[str]] = {}
    for name, node in sorted(manifest["nodes"].items()):
        if node["resource_type"] == "model":
            sentence = html.escape(" ".join(node["description"].split()).split(". ")[0].rstrip("."))
            cells = (
                f'<a href="dbt/index.html#!/model/{name}">{node["name"]}</a>',
                re.sub("`(.+?)`", r"<code>\1</code>", sentence),
                f'<a href="lineage/index.html?model={name}&amp;parents=5">lineage</a>' if has_lineage else "",
            )
            layers.setdefault(node["fqn"][1], []).append(f"<tr><td>{'</td><td>'.join(cells)}</td></tr>")
    tables = (f"<h2>{layer}</h2>\n<table>\n{chr(10).join(rows)}\n</table>" for layer, rows in sorted(layers.items()))
    metadata = manifest["metadata"]
    page.write_text(
        PAGE.format(
            project=metadata["project_name"],
            dbt_version=metadata["dbt_version"],
            made_at=metadata["generated_at"][:16].replace("T", " "),
            lineage=LINEAGE_DOOR if has_lineage else "",
            layers="\n".join(tables),
        )
    )


def main(target: Path = Path("target")) -> int:
    site = target / "site"
    shutil.rmtree(site, ignore_errors=True)
    (site / "dbt").mkdir(parents=True)
    shutil.copy(target / "static_index.html", site / "dbt" / "index.html")
    try:
        write_lineage(target, site / "lineage")
    except LineageError as error:
        print(f"docs: warning: the lineage is not whole: {error}", file=sys.stderr)
    write_index(target, site / "index.html")
    print(f"docs: {site / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
