"""The list of a project's dimensions in a browser, rendered from records, without a Spark."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from test_history_page import WIDTHS, contrast, micros, out_of_sight, set_window

from delta_scd2.history.dimension import Member
from delta_scd2.history.load_log import EFFECTS, LastLoad
from delta_scd2.history.overview import Entry, overview
from delta_scd2.history.page import Links

HOSTILE = "<script>document.title='stolen'</script>"
AT = micros(datetime(2024, 6, 1, 9, 30, 15, 123_456))


def load(*counts: int, status: str = "success", message: str = "") -> LastLoad:
    return LastLoad(AT, status, dict(zip(EFFECTS, counts, strict=False)), message)


def entry(name: str, last_load: LastLoad | None, keys: int = 5, description: str = "") -> Entry:
    figures = {"keys": keys, "live": keys - 1, "deleted": 1, "versions": 3 * keys}
    return Entry(Member(name, description, last_load, {}), figures, f"{name}.html", "2024-06-02 07:08:09")


CODE = 'from `stg_a` and `<b>`, "plain". '
LONG = "A sentence on what the dimension holds, and where it comes from. " * 6
FAILED = f"Runtime Error in model dim_c\n  {'x' * 300}"
ENTRIES = [
    entry("dim_a", load(1_310, 1_823, 248, 0, 2), keys=2_000_000, description=f"{CODE}{LONG}{HOSTILE}"),
    entry("dim_b_with_a_name_that_is_longer_than_most_of_them_are", load(0, 0, 0, 0, 0)),
    entry("dim_c", load(status="error", message=FAILED)),
    entry("dim_d", load(status="undone", message="the load of 1b9d is undone")),
    entry("dim_e", load(message="found in the history")),
    entry("dim_f", None),
    Entry(Member("dim_g", "", None, {}), problem="dim_g has not been built: run `dbt build --select dim_g`."),
    Entry(Member("dim_h", "", load(status="error", message="no table"), {}), problem="dim_h has not been built."),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "index.html"
    path.write_text(overview("shop", ENTRIES, Links(site="../site/index.html")), encoding="utf-8")
    return path


def texts(browser: webdriver.Chrome, place: str) -> list[str]:
    return [" ".join(element.text.split()) for element in browser.find_elements(By.CSS_SELECTOR, place)]


def rows(browser: webdriver.Chrome) -> Sequence[list[str]]:
    cells = texts(browser, ".dimensions td")
    return [cells[start : start + 5] for start in range(0, len(cells), 5)]


def test_the_list_tells_the_last_load_of_each_dimension(path: Path, browser: webdriver.Chrome) -> None:
    browser.get(path.as_uri())
    at = "2024-06-01 09:30:15"
    found = rows(browser)
    assert found[0][1:] == [
        "2,000,000", "1,999,999", "6,000,000", f"{at} 1,310 opened, 1,823 closed, 248 deleted, 2 removed",
    ]  # fmt: skip
    assert [row[4] for row in found[1:]] == [
        f"{at} no version changed",
        f"{at} failed: Runtime Error in model dim_c {'x' * 170}…",
        f"{at} undone",
        at,
        "2024-06-02 07:08:09 the newest commit of the table, which the load log does not have",
        "never",
        f"{at} failed: no table",
    ]
    assert found[6][:4] == ["dim_g dim_g has not been built: run dbt build --select dim_g.", "", "", ""]
    # What could not be read is not counted.
    assert texts(browser, ".figures dd") == ["8", "2,000,025", "2,000,019", "6,000,075"]


def test_the_list_leads_to_the_pages_that_are_there(path: Path, browser: webdriver.Chrome) -> None:
    browser.get(path.as_uri())
    links = browser.find_elements(By.TAG_NAME, "a")
    assert {link.text: link.get_dom_attribute("href") for link in links} == {
        "Documentation": "../site/index.html",
        **{each.member.name: f"{each.member.name}.html" for each in ENTRIES[:6]},
    }


def test_a_description_is_text(path: Path, browser: webdriver.Chrome) -> None:
    browser.get(path.as_uri())
    assert browser.title == "shop · dimensions"
    assert texts(browser, ".about p")[0].startswith('from stg_a and <b>, "plain". A sentence')
    assert texts(browser, ".about p")[0].endswith(HOSTILE)
    codes = ["stg_a", "<b>", "dbt build --select dim_g"]
    assert texts(browser, ".about code") == codes
    assert browser.find_elements(By.TAG_NAME, "script") == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_nothing_of_the_list_is_out_of_sight(path: Path, browser: webdriver.Chrome) -> None:
    for width in WIDTHS:
        set_window(browser, width, "light")
        browser.get(path.as_uri())
        assert out_of_sight(browser) == []
        label = browser.execute_script(
            "return getComputedStyle(document.querySelector('.dimensions td[data-label=live]'), '::before').content"
        )
        assert label == ('"live"' if width == 390 else "none")


def test_the_list_is_readable_in_both_colors(path: Path, browser: webdriver.Chrome) -> None:
    for scheme in ["light", "dark"]:
        set_window(browser, 1400, scheme)
        browser.get(path.as_uri())
        ground = browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
        assert (contrast(ground, "rgb(0, 0, 0)") > 10) == (scheme == "light")
        written = browser.find_elements(By.CSS_SELECTOR, "a, p, td, th, dt, dd")
        assert min(contrast(element.value_of_css_property("color"), ground) for element in written) >= 4.5


def test_a_list_of_dimensions_that_nobody_built_has_no_figures(browser: webdriver.Chrome, tmp_path: Path) -> None:
    path = tmp_path / "index.html"
    path.write_text(overview("shop", ENTRIES[6:7], Links()), encoding="utf-8")
    browser.get(path.as_uri())
    assert texts(browser, ".figures dd") == ["1", "0", "0", "0"]
    assert browser.find_elements(By.TAG_NAME, "a") == []
