"""The pages of the documentation site, as MkDocs builds them, in a browser that reads them from a directory."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import delta_scd2
import docs_pages
import docs_site

MANIFEST = {
    "metadata": {"project_name": "shop", "dbt_version": "1.11", "generated_at": "2024-05-01T10:20:30Z"},
    "nodes": {
        "model.shop.dim_x": {
            "resource_type": "model", "name": "dim_x", "description": "One | row. More.",
            "fqn": ["shop", "gold", "dim_x"], "config": {"materialized": "scd2"}, "language": "python",
            "depends_on": {"nodes": ["model.shop.fct_x"]},
        },
        "model.shop.dim_y.v2": {
            "resource_type": "model", "name": "dim_y", "description": "", "version": 2,
            "fqn": ["shop", "gold", "dim_y", "v2"], "config": {"materialized": "scd2"}, "language": "sql",
            "depends_on": {"nodes": []},
        },
        "model.shop.dim_z": {
            "resource_type": "model", "name": "dim_z", "description": "",
            "fqn": ["shop", "gold", "dim_z"], "config": {"materialized": "scd2"}, "language": "sql",
            "depends_on": {"nodes": ["model.shop.fct_x"]},
        },
        "model.shop.fct_x": {
            "resource_type": "model", "name": "fct_x", "description": "",
            "fqn": ["shop", "gold", "fct_x"], "config": {"materialized": "table"},
        },
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("target")
    (target / "manifest.json").write_text(json.dumps(MANIFEST))
    (target / "report").mkdir()
    for name in ("dim_x", "dim_y.v2", "fct_x"):
        (target / "report" / f"{name}.html").write_text("<h1>history</h1>")
    return docs_site.build_site(target)


def pages(site: Path) -> list[Path]:
    """All pages but those that show a file of code, which are alike: one of them has to do."""
    found = [
        page for page in site.rglob("*.html") if page.relative_to(site).parts[0] not in ("dbt", "lineage", "source")
    ]
    assert len(found) > 50
    return [*found, site / "source" / "macros" / "scd2" / "scd2.sql.html"]


def test_links_lead_to_pages_of_the_site() -> None:
    linked: list[str] = []
    text = "[a](docs/guides/x.md#b) [c](macros/y.sql) [d](https://e.f)\n```md\n[g](h.md)\n```\n"
    assert docs_pages.with_links(text, "README.md", linked) == (
        "[a](guides/x.md#b) [c](source/macros/y.sql/index.md) [d](https://e.f)\n```md\n[g](h.md)\n```\n"
    )
    assert linked == ["docs/guides/x.md", "macros/y.sql"]
    link = "[r](../../README.md)"
    assert docs_pages.with_links(link, "docs/guides/x.md", linked) == "[r](../index.md)"


def test_the_site_has_guides_reference_decisions_benchmarks_and_code(site: Path) -> None:
    for name in ("index", "guides/versions", "how-a-load-works", "benchmarks/index", "CHANGELOG"):
        assert (site / f"{name}.html").exists()
    assert "0031-one-hash-of-a-row.html" in (site / "decisions" / "index.html").read_text()
    assert "source/macros/scd2/scd2.sql.html" in (site / "how-a-load-works.html").read_text()
    assert "as_of_join" in (site / "reference" / "macros.html").read_text()
    assert "max_delete_fraction" in (site / "reference" / "options.html").read_text()
    assert "deleted_rows_closed" in (site / "reference" / "tests.html").read_text()
    assert "One | row" in (site / "models.html").read_text()
    functions = (site / "reference" / "python.html").read_text()
    for name in delta_scd2.__all__:
        assert re.search(rf'<h2 id="delta_scd2\.[\w.]+\.{name}"', functions)
    assert "datetime has no time zone" in " ".join(functions.split())
    assert '<link rel="icon" href="../images/favicon.svg">' in (site / "guides" / "versions.html").read_text()
    assert (site / "images" / "favicon.svg").exists()


def test_models_lead_to_their_histories_where_these_were_written(site: Path, browser: webdriver.Chrome) -> None:
    browser.get(f"file://{site}/models.html")
    links = browser.find_elements(By.LINK_TEXT, "history")
    assert [link.get_attribute("href") for link in links] == [
        f"file://{site}/report/{name}.html" for name in ("dim_x", "dim_y.v2")
    ]
    links[1].click()
    assert browser.find_element(By.TAG_NAME, "h1").text == "history"


def test_the_lineage_opens_on_a_dimension_that_has_one(site: Path, browser: webdriver.Chrome) -> None:
    browser.get(f"file://{site}/models.html")
    address = browser.find_element(By.LINK_TEXT, "Lineage of columns").get_attribute("href")
    assert address == f"file://{site}/lineage/index.html?model=model.shop.dim_z&parents=5"
    without = {"nodes": {name: node for name, node in MANIFEST["nodes"].items() if name != "model.shop.dim_z"}}
    assert docs_pages.first_with_lineage(without) is None


def test_pages_fit_a_telephone_show_no_markdown_and_load_nothing_from_elsewhere(
    site: Path, browser: webdriver.Chrome
) -> None:
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wide = {}
    shown = []
    for page in pages(site):
        browser.get(f"file://{page}")
        width = browser.execute_script("return document.documentElement.scrollWidth")
        if width > size["width"]:
            wide[str(page.relative_to(site))] = width
        for text in browser.execute_script(
            "return [...document.querySelectorAll('article p, article li')].map(e => e.textContent)"
        ):
            lines = [line for line in text.splitlines() if line.startswith(("- ", "```", "| -"))]
            shown += [f"{page.relative_to(site)}: {line}" for line in lines]
    assert wide == {}
    assert shown == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requests = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert f"file://{site}/index.html" in requests
    assert [url for url in requests if not url.startswith(("chrome:", "file:", "data:", "blob:"))] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_search_finds_a_page_without_a_server(site: Path, browser: webdriver.Chrome) -> None:
    browser.get(f"file://{site}/guides/versions.html")
    field = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys("max_delete_fraction")
    # What was typed so far may have found other pages.
    found = "return [...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"

    def addresses_found(chrome: webdriver.Chrome) -> list[str]:
        addresses: list[str] = chrome.execute_script(found)
        return addresses if any("reference/options.html" in address for address in addresses) else []

    addresses = WebDriverWait(browser, 30).until(addresses_found)
    assert not any("/source/" in address for address in addresses)
