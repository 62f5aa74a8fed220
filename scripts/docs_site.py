"""Make the documentation site in `target/site`: dbt's own pages, the lineage of columns, and a page that leads to both.

Reads what `dbt docs generate --static` and `dbt run-operation print_lineage_sql` left in `target/`. The lineage is
drawn by dbt-colibri, which reads the SQL of the models; what it cannot read there is put into SQL first.
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

from dbt_colibri.lineage_extractor.extractor import DbtColumnLineageExtractor
from dbt_colibri.report.generator import DbtColibriReportGenerator

Json = dict[str, Any]

# dbt-colibri knows no Spark; the SQL of Databricks is Spark's and more.
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
  <a href="lineage/index.html"><strong>Lineage of columns</strong>
    Which columns a column is made from, through all layers.</a>
</div>
<p class="quiet">Of a model in Python, the lineage shows a column as coming from the column of the same name in what the
model reads: its code is not looked into.</p>
{layers}
</body>
</html>
"""


class LineageError(Exception):
    """What dbt-colibri could not follow; the text names the models and columns."""


def readable_manifest(manifest: Json, catalog: Json, lineage_sql: dict[str, str]) -> Json:
    """The manifest as dbt-colibri can read it: the dialect, the names of relations, and SQL for each model."""
    manifest["metadata"]["adapter_type"] = DIALECT
    nodes = {**manifest["nodes"], **manifest["sources"]}
    for node in nodes.values():
        # Three parts are expected in the name of a relation; Spark's has no database.
        if node.get("relation_name"):
            node["relation_name"] = "." + node["relation_name"]
            node["database"] = "spark_catalog"
    for name, node in manifest["nodes"].items():
        if node["resource_type"] != "model":
            continue
        if node["language"] == "python":
            node["compiled_code"] = same_names_sql(name, manifest, catalog)
            node["path"] = node["path"].removesuffix(".py") + ".sql"
        if name in lineage_sql:
            node["compiled_code"] = f"with model_rows as (\n{node['compiled_code']}\n)\n\n{lineage_sql[name]}"
    return manifest


def same_names_sql(name: str, manifest: Json, catalog: Json) -> str:
    """A Python model as a query that takes every column of what it reads; of two with one name, the first."""
    nodes = {**manifest["nodes"], **manifest["sources"]}
    known = {**catalog["nodes"], **catalog["sources"]}
    columns: dict[str, str] = {}
    parents = manifest["nodes"][name]["depends_on"]["nodes"]
    for number, parent in enumerate(parents):
        for column in known[parent]["columns"]:
            columns.setdefault(column, f"parent_{number}.`{column}`")
    tables = (
        f"{nodes[parent]['relation_name'].lstrip('.')} as parent_{number}" for number, parent in enumerate(parents)
    )
    return f"select {', '.join(columns.values())} from {' cross join '.join(tables)}"


class Complaints(logging.Handler):
    """Collects the errors and warnings that dbt-colibri only prints."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def write_lineage(target: Path, directory: Path) -> None:
    """Write the page with the lineage of columns; raise LineageError where a model's SQL could not be followed."""
    manifest = json.loads((target / "manifest.json").read_text())
    catalog = json.loads((target / "catalog.json").read_text())
    lineage_sql = json.loads((target / "lineage_sql.json").read_text())
    unbuilt = [
        name
        for name, node in manifest["nodes"].items()
        if node["resource_type"] in BUILT
        and node["config"]["materialized"] != "ephemeral"
        and name not in catalog["nodes"]
    ]
    if unbuilt:
        raise LineageError(
            "\n  ".join(["run `make build` first: these have no table, hence no known columns:", *unbuilt])
        )
    readable = target / "lineage_manifest.json"
    readable.write_text(json.dumps(readable_manifest(manifest, catalog, lineage_sql)))
    complaints = Complaints()
    logging.getLogger("colibri").addHandler(complaints)
    extractor = DbtColumnLineageExtractor(str(readable), str(target / "catalog.json"))
    # Otherwise the page reports its use to the makers of dbt-colibri.
    generator = DbtColibriReportGenerator(extractor, disable_telemetry=True)
    generator.generate_report(output_dir=str(directory))
    logging.getLogger("colibri").removeHandler(complaints)
    if complaints.messages:
        raise LineageError("\n  ".join(["dbt-colibri could not follow all columns:", *complaints.messages]))


def write_index(target: Path, page: Path) -> None:
    """Write the page that leads to the others, with a list of the models by layer."""
    manifest = json.loads((target / "manifest.json").read_text())
    layers: dict[str, list[str]] = {}
    for name, node in sorted(manifest["nodes"].items()):
        if node["resource_type"] == "model":
            sentence = html.escape(" ".join(node["description"].split()).split(". ")[0].rstrip("."))
            cells = (
                f'<a href="dbt/index.html#!/model/{name}">{node["name"]}</a>',
                re.sub("`(.+?)`", r"<code>\1</code>", sentence),
                f'<a href="lineage/index.html?model={name}&amp;parents=5">lineage</a>',
            )
            layers.setdefault(node["fqn"][1], []).append(f"<tr><td>{'</td><td>'.join(cells)}</td></tr>")
    tables = (f"<h2>{layer}</h2>\n<table>\n{chr(10).join(rows)}\n</table>" for layer, rows in sorted(layers.items()))
    metadata = manifest["metadata"]
    page.write_text(
        PAGE.format(
            project=metadata["project_name"],
            dbt_version=metadata["dbt_version"],
            made_at=metadata["generated_at"][:16].replace("T", " "),
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
        print(f"docs: {error}", file=sys.stderr)
        return 1
    write_index(target, site / "index.html")
    print(f"docs: {site / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
