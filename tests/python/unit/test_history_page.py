"""The page of a dimension in a browser, rendered from a dimension made by hand, without a Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from delta_scd2.history.dimension import Dimension, Load
from delta_scd2.history.page import Links, model_in_site, page, page_data
from delta_scd2.history.timeline import Version
from harness import micros

COLUMNS = ["name", "balance", "a_column_with_a_name_that_is_longer_than_most_of_them_are"]
COMMITTED_AT = datetime(2024, 6, 1, 9, 30, tzinfo=UTC)
Opened = Callable[..., webdriver.Chrome]
Row = tuple[datetime, datetime | None, tuple[str | None, ...]]


def dimension(rows: dict[str, list[Row]], loads: Sequence[Load] = ()) -> Dimension:
    """A dimension with one column as its key, and the rows of each."""
    made: dict[str, list[Version]] = {
        key: [
            Version(micros(begins), ends and micros(ends), values, row is own[-1], row is own[-1] and ends is not None)
            for row in own
            for begins, ends, values in [row]
        ]
        for key, own in rows.items()
    }
    by_versions: dict[int, int] = {}
    for own in made.values():
        by_versions[len(own)] = by_versions.get(len(own), 0) + 1
    described: dict[str, Any] = {
        "name": "dim_account", "version": 3, "committed_at": COMMITTED_AT, "keys": ["no"], "attributes": COLUMNS,
        "tracked": COLUMNS, "keeps_tombstones": False, "has_unknown_member": False,
        "loads": lambda limit: list(loads),
        "keys_by_versions": lambda: by_versions,
        "changes_by_column": lambda: dict.fromkeys(COLUMNS, 12_345),
        "longest": lambda keys, versions: [((key,), len(own), len(own), own[-versions:]) for key, own in made.items()],
    }  # fmt: skip
    return cast(Dimension, SimpleNamespace(**described))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


ROWS: dict[str, list[Row]] = {
    "A/1 ä": [
        (at("2014-03-01"), at("2019-07-15"), ("Ada", "-5", "x")),
        (at("2019-07-15"), None, ("Ada", "5", "x")),
    ],
    "B2": [(at("2024-01-10"), at("2024-04-01"), ("Bob", "0", "y"))],
    "100%": [(at("2024-05-27"), None, ("Cy", None, ""))],
    "H": [(at("2024-06-01 02:10:00"), None, ("Di", "1", ""))],
}
LOADS = [Load(micros(at(f"2024-01-{day:02} 12:34:56")), 1_234_567, 123_456, 12_345, 1_234_567) for day in range(1, 9)]
WIDTHS = [390, 820, 1400]
NO_LINKS = Links()
LINKS = Links("index.html", "../site/dbt/index.html#!/model/model.shop.dim_account")


@pytest.fixture
def opened(browser: webdriver.Chrome, tmp_path: Path) -> Opened:
    """A function that opens the page of a dimension in a window of a width."""
    numbers = count()

    def open_page(
        rows: dict[str, list[Row]] = ROWS,
        width: int = 1400,
        fragment: str = "",
        scheme: str = "light",
        links: Links = NO_LINKS,
    ) -> webdriver.Chrome:
        # An address that differs in its fragment alone would not load the page again.
        path = tmp_path / f"page_{next(numbers)}.html"
        data = page_data(dimension(rows, LOADS), keys=500, versions=100)
        path.write_text(page(data, links), encoding="utf-8")
        set_window(browser, width, scheme)
        browser.get(path.as_uri() + fragment)
        return browser

    return open_page


def set_window(browser: webdriver.Chrome, width: int, scheme: str) -> None:
    """Give the browser's window a width, and its user a taste for light or dark."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def out_of_sight(browser: webdriver.Chrome) -> list[str]:
    """The elements that lie beside the window or cut off their text."""
    found: list[str] = browser.execute_script(
        """return [...document.querySelectorAll("body *")].filter(element => {
      const { left, right, width } = element.getBoundingClientRect();
      const mayNotOverflow = element.matches(".number") || getComputedStyle(element).overflowX !== "visible";
      return width && (left < 0 || right > innerWidth
        || mayNotOverflow && element.clientWidth && element.scrollWidth > element.clientWidth + 1);
    }).map(element => element.outerHTML.slice(0, 99))"""
    )
    return found


def test_nothing_of_a_page_is_out_of_sight(opened: Opened) -> None:
    for width in WIDTHS:
        browser = opened(width=width, links=LINKS)
        assert out_of_sight(browser) == []
        bars = browser.find_elements(By.CSS_SELECTOR, ".loads tbody tr:first-child .bar")
        assert {bar.get_attribute("data-label"): bar.text.split()[-1] for bar in bars} == {
            "new": "1,234,567", "changed": "123,456", "returned": "12,345", "deleted": "1,234,567",
        }  # fmt: skip


def test_a_page_leads_to_the_list_and_the_model_if_they_are_there(opened: Opened) -> None:
    assert opened().find_elements(By.TAG_NAME, "a") == []
    [to_list] = opened(links=Links(overview="index.html")).find_elements(By.TAG_NAME, "a")
    assert (to_list.text, to_list.get_dom_attribute("href")) == ("All dimensions", "index.html")
    [to_model] = opened(links=Links(model="../m#!/model/x")).find_elements(By.TAG_NAME, "a")
    assert (to_model.text, to_model.get_dom_attribute("href")) == ("Model, columns and code", "../m#!/model/x")


def test_a_model_is_linked_where_the_site_has_it(tmp_path: Path) -> None:
    site, report = tmp_path / "a site", tmp_path / "report"
    assert model_in_site(site, "model.shop.dim_x", report) is None
    documentation = site / "dbt" / "index.html"
    documentation.parent.mkdir(parents=True)
    documentation.write_text('{"model.shop.dim_xy": {}}')
    assert model_in_site(site, "model.shop.dim_x", report) is None
    assert model_in_site(None, "model.shop.dim_xy", report) is None
    address = "../a%20site/dbt/index.html#!/model/model.shop.dim_xy"
    assert model_in_site(site, "model.shop.dim_xy", report) == address


def test_a_narrow_page_names_each_figure_of_a_load(opened: Opened) -> None:
    names = """return [...document.querySelectorAll(".loads tbody tr:first-child td")].map(
      cell => getComputedStyle(cell, "::before").content)"""
    shown = ['"new"', '"changed"', '"returned"', '"deleted"', '"live after"']
    browser = opened(width=390)
    assert browser.execute_script(names) == ["none", *shown]
    assert not any(bar.is_displayed() for bar in browser.find_elements(By.CSS_SELECTOR, ".loads .track"))
    # The names are in the head of the table where there is room for it.
    assert opened(width=1400).execute_script(names) == ["none"] * 6


def test_an_old_value_keeps_its_minus(opened: Opened) -> None:
    browser = opened()
    changed = browser.find_element(By.CSS_SELECTOR, ".changes dd")
    assert changed.text == "-5 → 5"
    old, new = (changed.find_element(By.TAG_NAME, name) for name in ("del", "ins"))
    for value in (old, new):
        assert value.value_of_css_property("text-decoration-line") == "none"
    assert old.value_of_css_property("color") != new.value_of_css_property("color")


def test_the_flags_of_a_row_do_not_contradict_its_kind(opened: Opened) -> None:
    browser = opened(fragment="#B2")
    words = [word.text for word in browser.find_elements(By.CSS_SELECTOR, ".steps .what, .steps .flag")]
    assert words == ["new", "then deleted", "still current", "deleted"]


def shown(browser: webdriver.Chrome) -> list[str]:
    """The key of the timeline that is shown, if any, and the key marked in the list."""
    places = ("#timeline h3", "#found [aria-current=true] .key")
    return [element.text for place in places for element in browser.find_elements(By.CSS_SELECTOR, place)]


def message(browser: webdriver.Chrome) -> str:
    return browser.find_element(By.ID, "count").text


def test_a_search_without_a_result_leaves_no_timeline(opened: Opened) -> None:
    browser = opened()
    assert shown(browser) == ["A/1 ä", "A/1 ä"]
    search = browser.find_element(By.ID, "search")
    search.send_keys("b22")
    assert (shown(browser), message(browser)) == ([], "No key “b22” in this page.")
    assert browser.find_element(By.ID, "timeline").text == ""
    search.send_keys(Keys.BACKSPACE)
    assert (shown(browser), message(browser)) == (["B2", "B2"], "")


def test_long_keys_are_told_apart_and_found_in_full(opened: Opened) -> None:
    keys = ["k" * 300 + end for end in "ab"]
    browser = opened(dict.fromkeys(keys, ROWS["B2"]), fragment="#" + keys[1])
    [title, marked] = shown(browser)
    assert title == marked == "k" * 199 + "…"
    assert message(browser) == ""
    found = browser.find_elements(By.CSS_SELECTOR, "#found li")
    assert len(found) == 1 or found[1].find_elements(By.CSS_SELECTOR, "[aria-current=true]")
    browser.find_element(By.ID, "search").clear()
    browser.find_element(By.ID, "search").send_keys(keys[0])
    assert browser.execute_script("return location.hash") == "#" + keys[0]


def test_a_key_typed_in_full_stands_before_longer_ones(opened: Opened) -> None:
    browser = opened(dict.fromkeys(["B21", "B2", "b2"], ROWS["B2"]))
    search = browser.find_element(By.ID, "search")
    search.send_keys("b")
    assert shown(browser) == ["B21", "B21"]
    search.send_keys("2")
    assert shown(browser) == ["b2", "b2"]


def test_an_address_opens_the_timeline_of_its_key(opened: Opened) -> None:
    for fragment, key in {
        "": "A/1 ä",
        "#B2": "B2",
        "#A%2F1%20%C3%A4": "A/1 ä",
        "#A/1 ä": "A/1 ä",
        "#100%25": "100%",
        "#100%": "100%",
    }.items():
        browser = opened(fragment=fragment, width=390)
        assert shown(browser) == [key, key]
        assert len(browser.find_elements(By.CSS_SELECTOR, "#found button")) == len(ROWS)
        heading = browser.find_element(By.CSS_SELECTOR, "#timeline h3")
        in_sight = browser.execute_script("return arguments[0].getBoundingClientRect().bottom <= innerHeight", heading)
        assert in_sight == bool(fragment)


def test_an_address_may_name_a_key_that_is_not_in_the_list(opened: Opened) -> None:
    many = {f"{number}": ROWS["B2"] for number in range(300)}
    assert shown(opened(many, fragment="#299")) == ["299", "299"]
    # It is the last of those that hold its text, of which the list has only a hundred.
    assert shown(opened({**{f"{n}2": ROWS["H"] for n in range(300)}, "2": ROWS["H"]}, fragment="#2")) == ["2", "2"]


def test_an_address_with_an_unknown_key_opens_nothing(opened: Opened) -> None:
    browser = opened(fragment="#b")
    assert (shown(browser), message(browser)) == ([], "No key “b” in this page.")
    assert [key.text for key in browser.find_elements(By.CSS_SELECTOR, "#found .key")] == ["B2"]


def test_a_choice_sets_the_address_and_the_browser_goes_back_to_it(opened: Opened) -> None:
    browser = opened()
    first = browser.current_url

    def entry() -> tuple[str, list[str]]:
        return browser.current_url.removeprefix(first), shown(browser)

    def goes(move: Callable[[], None], fragment: str, key: str) -> None:
        move()
        # The page draws its lists anew while they are read.
        wait = WebDriverWait(browser, 10, ignored_exceptions=[StaleElementReferenceException])
        wait.until(lambda _: entry() == (fragment, [key, key]))

    keys = {key.text: key for key in browser.find_elements(By.CSS_SELECTOR, "#found .key")}
    goes(keys["B2"].click, "#B2", "B2")
    # What is typed is one entry, though its first letter finds another key.
    goes(lambda: browser.find_element(By.ID, "search").send_keys("1"), "#A%2F1%20%C3%A4", "A/1 ä")
    goes(lambda: browser.find_element(By.ID, "search").send_keys("0"), "#100%25", "100%")
    goes(browser.back, "#B2", "B2")
    goes(browser.back, "", "A/1 ä")
    goes(browser.forward, "#B2", "B2")
    goes(browser.forward, "#100%25", "100%")
    goes(browser.refresh, "#100%25", "100%")
    browser.find_element(By.ID, "search").send_keys("?")
    assert entry() == ("#", [])
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def ticks(browser: webdriver.Chrome) -> list[dict[str, Any]]:
    """Text, place and color of the ticks below the strip of a timeline; places are parts of its width."""
    found: list[dict[str, Any]] = browser.execute_script(
        """const strip = document.querySelector(".strip").getBoundingClientRect();
        return [...document.querySelectorAll(".axis span")].map(tick => {
          const { left, right } = tick.getBoundingClientRect();
          return { text: tick.textContent, left: (left - strip.left) / strip.width,
            right: (right - strip.left) / strip.width, color: getComputedStyle(tick).color };
        })"""
    )
    return found


def contrast(color: str, ground: str) -> float:
    """The contrast of two colors, by WCAG 2."""

    def luminance(text: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", text)[:3]]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted([luminance(color), luminance(ground)])
    return (light + 0.05) / (dark + 0.05)


FIRST_TICKS = [
    ("0001-01-01", ["0500", "1000", "1500"], ["0200", "0400", "0600"]),
    ("2014-03-01", ["2016", "2018", "2020", "2022"], ["2015", "2016", "2017"]),
    ("2024-01-10", ["2024-03", "2024-05"], ["2024-02", "2024-03", "2024-04"]),
    ("2024-05-20", ["2024-05-20", "2024-05-27"], ["2024-05-21", "2024-05-23", "2024-05-25"]),
    ("2024-05-31 18:00:00", ["18:00", "2024-06-01", "06:00"], ["18:00", "21:00", "2024-06-01", "03:00"]),
    ("2024-06-01 09:29:15", ["09:29:15", "09:29:30"], ["09:29:15", "09:29:30", "09:29:45"]),
]
FORMS = {4: "%Y", 7: "%Y-%m", 10: "%Y-%m-%d"}


def test_ticks_tell_the_time_at_any_width(opened: Opened) -> None:
    until = COMMITTED_AT.replace(tzinfo=None)
    for begins, narrow, wide in FIRST_TICKS:
        begin = at(begins)
        for width, expected in [(1400, wide), (390, narrow)]:
            found = ticks(opened({"A": [(begin, None, ("Ada", "1", ""))]}, width=width))
            assert [tick["text"] for tick in found][: len(expected)] == expected
            # No text runs into the next tick, or out of the strip.
            assert [tick for tick, after in pairwise(found) if tick["right"] > after["left"]] == []
            assert found[-1]["right"] <= 1.01
            for tick in found:
                if form := FORMS.get(len(tick["text"])):
                    part = (datetime.strptime(tick["text"], form) - begin) / (until - begin)
                    assert tick["left"] == pytest.approx(part, abs=0.001)


def test_ticks_follow_the_width_of_the_window(opened: Opened) -> None:
    browser = opened(width=1400)
    wide = ticks(browser)
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    WebDriverWait(browser, 10).until(lambda _: len(ticks(browser)) < len(wide))
    assert [tick["text"] for tick in ticks(browser)][:2] == ["2016", "2018"]


def test_a_version_stands_where_the_ticks_say(opened: Opened) -> None:
    browser = opened()
    second = browser.execute_script(
        """const [strip, part] = [".strip", ".strip .changed"].map(
          place => document.querySelector(place).getBoundingClientRect());
        return [(part.left - strip.left) / strip.width, (part.right - strip.left) / strip.width]"""
    )
    begin, until = at("2014-03-01"), COMMITTED_AT.replace(tzinfo=None)
    assert second == pytest.approx([(at("2019-07-15") - begin) / (until - begin), 1], abs=0.002)


def test_ticks_are_readable_in_both_colors(opened: Opened) -> None:
    for scheme in ["light", "dark"]:
        browser = opened(scheme=scheme)
        ground = browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
        assert (contrast(ground, "rgb(0, 0, 0)") > 10) == (scheme == "light")
        assert min(contrast(tick["color"], ground) for tick in ticks(browser)) >= 4.5


def test_a_page_without_keys_has_nothing_to_look_up(opened: Opened) -> None:
    browser = opened({}, fragment="#A")
    assert browser.find_element(By.TAG_NAME, "h1").text == "dim_account"
    assert browser.find_elements(By.ID, "lookup") == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
