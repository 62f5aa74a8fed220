"""Build the documentation site in `target/site`: the pages, dbt's docs, the column lineage and histories.

Reads the output of `dbt docs generate --static` and `dbt run-operation print_lineage_sql` in
`target/`. dbt-colibri derives the lineage from the SQL of the models; models that it cannot parse
are replaced by equivalent SQL first.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path
from typing import Any

import sqlglot
from dbt_colibri.lineage_extractor.extractor import DbtColumnLineageExtractor
from dbt_colibri.report.generator import DbtColibriReportGenerator
from mkdocs.commands.build import build
from mkdocs.config import load_config
from sqlglot.errors import SqlglotError

import docs_pages
from delta_scd2.history.page import Links, with_links

Json = dict[str, Any]

# dbt-colibri does not support Spark; the SQL of Databricks is a superset.
DIALECT = "databricks"
BUILT = ("model", "seed", "snapshot")
ICON = re.compile(r'(<link rel="shortcut icon" href=)"[^"]*"')


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


def write_lineage(target: Path, directory: Path) -> list[str]:
    """Write the lineage page; return what it lacks."""
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
    return problems


def build_site(target: Path) -> Path:
    """Build the pages with MkDocs; a link that leads nowhere raises an error."""
    pages, site = (target / "pages").resolve(), (target / "site").resolve()
    manifest = json.loads((target / "manifest.json").read_text())
    docs_pages.write_pages(pages, manifest)
    config = load_config(str(docs_pages.ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(site), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    config.plugins.on_shutdown()
    # It expects the site at the root of a server, and is not needed in a directory.
    (site / "404.html").unlink()
    copy_report(target / "report", site / "report", manifest)
    return site


def copy_report(report: Path, directory: Path, manifest: Json) -> None:
    """Copy the pages on histories, if they were written, into the site, to which they lead there."""
    if not report.is_dir():
        return
    directory.mkdir()
    dimensions = {name: node for name, node in manifest["nodes"].items() if node["config"]["materialized"] == "scd2"}
    models = {docs_pages.history_file(node): name for name, node in dimensions.items()}
    overview = "index.html" if (report / "index.html").is_file() else None
    for page in report.glob("*.html"):
        model = f"../dbt/index.html#!/model/{models[page.name]}" if page.name in models else None
        links = Links(site="../index.html") if page.name == overview else Links(overview, model)
        (directory / page.name).write_text(with_links(page.read_text(), links))


def with_icon(page: str) -> str:
    """dbt's documentation with the site's icon; that of dbt is a placeholder that nothing fills in."""
    return ICON.sub(r'\1"../images/favicon.svg"', page, count=1)


def main(target: Path = Path("target")) -> int:
    site = build_site(target)
    (site / "dbt" / "index.html").write_text(with_icon((target / "static_index.html").read_text()))
    problems = write_lineage(target, site / "lineage")
    if problems:
        print("docs: warning: the lineage is not whole:", "\n  ".join(problems), file=sys.stderr)
    print(f"docs: {target / 'site' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
