"""What the documentation site makes from the manifest, the Makefile, click and the report. Builds no site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import docs_pages
import docs_site
from delta_scd2.history.cli import main
from delta_scd2.history.overview import overview
from delta_scd2.history.page import Links
from harness import ROOT


def model(name: str, layer: str, materialized: str = "scd2", **written: Any) -> dict[str, Any]:
    """A model in a manifest, with options that its configuration sets and others that dbt fills in."""
    config = {"materialized": materialized, "schema": layer, "file_format": "delta", **written}
    return {
        "resource_type": "model", "name": name, "description": "", "language": "python",
        "fqn": ["shop", layer, name], "unrendered_config": dict.fromkeys(config, "…"),
        "config": {**config, "on_schema_change": "ignore", "tags": []},
    }  # fmt: skip


def manifest(*models: dict[str, Any]) -> dict[str, Any]:
    metadata = {"project_name": "shop", "dbt_version": "1.11", "generated_at": "2024-05-01T10:20:30Z"}
    return {"metadata": metadata, "nodes": {f"model.shop.{node['name']}": node for node in models}}


def models_page(*models: dict[str, Any], report: Path = Path("nowhere")) -> str:
    return docs_pages.models_page(manifest(*models), report)


def headings(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("##")]


def test_the_layers_are_in_the_order_of_the_data() -> None:
    layers = ["archive", "gold", "operations", "silver", "staging", "a_mart"]
    page = models_page(*(model(f"m_{layer}", layer, "table") for layer in layers))
    assert headings(page) == [
        f"## {layer}" for layer in ("silver", "staging", "gold", "operations", "a_mart", "archive")
    ]


def test_the_options_that_a_dimension_sets_are_listed() -> None:
    page = models_page(
        model("dim_a", "gold", unique_key=["no", "at"], open_end=None, flag_values=[1, 0]),
        {**model("dim_b", "gold", unique_key="no"), "version": 2},
        model("fct_c", "gold", "table", partition_by="day"),
    )
    assert page.partition("## Options of the dimensions")[2].split("\n\n")[2:] == [
        "### dim_a",
        '- `flag_values`: `` [1, 0] ``\n- `open_end`: `` null ``\n- `unique_key`: `` ["no", "at"] ``',
        "### dim_b.v2",
        '- `unique_key`: `` "no" ``\n',
    ]


def test_the_page_of_commands_lists_them_all() -> None:
    page = docs_pages.with_made_parts((ROOT / "docs" / "reference" / "commands.md").read_text())
    assert "<!--" not in page
    targets = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    make, _, rest = page.partition("### All commands of make")[2].partition("## dbt")
    assert re.findall(r"^\| `make (.+)` \| .+ \|$", make, re.MULTILINE) == targets
    # The table of those for everyday work names no other.
    assert {*re.findall(r"`make ([a-z-]+)", page)} <= {*targets}

    _, *sections = rest.split("### delta-scd2 ")
    assert [section.partition("\n")[0] for section in sections] == list(main.commands)
    for section, command in zip(sections, main.commands.values(), strict=True):
        described = re.findall(r"^\| `(--[a-z-]+).*` \| .+ \|$", section, re.MULTILINE)
        assert described == [option for each in command.params for option in each.opts if option.startswith("--")]
        assert (command.help or "").splitlines()[0] in section


def test_the_histories_come_into_the_site_and_lead_to_it(tmp_path: Path) -> None:
    models = model("dim_a", "gold"), {**model("dim_b", "gold"), "version": 2}, model("dim_unbuilt", "gold")
    report, site = tmp_path / "report", tmp_path / "site"
    report.mkdir()
    site.mkdir()
    # The list was written after an earlier site, a page before it.
    (report / "index.html").write_text(overview("shop", [], Links(site="../site/index.html")))
    for name in ("dim_a", "dim_b.v2", "dim_dropped"):
        (report / f"{name}.html").write_text("<nav></nav><p>é, and a value: &lt;nav></nav></p>")

    page = models_page(*models, report=report)
    assert re.findall(r'href="(.*?)">history', page) == ["report/dim_a.html", "report/dim_b.v2.html"]
    docs_site.copy_report(report, site / "report", manifest(*models))
    texts = {path.stem: path.read_text() for path in (site / "report").iterdir()}
    assert {name: re.findall(r'href="(.*?)"', text) for name, text in texts.items()} == {
        "index": ["../index.html"],
        "dim_a": ["index.html", "../dbt/index.html#!/model/model.shop.dim_a"],
        "dim_b.v2": ["index.html", "../dbt/index.html#!/model/model.shop.dim_b"],
        "dim_dropped": ["index.html"],
    }
    assert texts["dim_a"].endswith("</nav><p>é, and a value: &lt;nav></nav></p>")
    assert "<h1>shop</h1>" in texts["index"]


def test_a_site_without_histories_has_no_place_for_them(tmp_path: Path) -> None:
    docs_site.copy_report(tmp_path / "report", tmp_path / "site", manifest())
    assert not (tmp_path / "site").exists()
