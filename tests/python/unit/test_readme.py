"""The README and the pages: they are short, their links lead somewhere, and their picture is true."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

from mkdocs.utils.yaml import yaml_load

from harness import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    *(ROOT / "docs").rglob("*.md"),
]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_fits_on_a_few_screens() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines()
    assert [line for line in prose if len(line) > 100 and not line.startswith("|")] == []


def test_the_readme_and_the_guide_set_the_same_lines() -> None:
    (lines,) = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(lines.splitlines()) == 3
    guide = (ROOT / "docs" / "guides" / "use-it-in-your-project.md").read_text()
    (longer,) = re.findall(r"^```yaml\n(models:\n  your_project:.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert yaml_load(longer) == yaml_load(lines)


def test_links_lead_to_files_and_headings() -> None:
    lost, found = [], 0
    for page in PAGES:
        for path, anchor in LINK.findall(page.read_text()):
            target = page.parent / path if path else page
            found += 1
            if not target.exists() or (anchor and anchor not in anchors(target)):
                lost.append(f"{page.relative_to(ROOT)}: {path}#{anchor}")
    assert found > 100
    assert lost == []


def test_no_diagram_is_shown_as_text() -> None:
    """The site draws no Mermaid: a diagram is a picture."""
    assert [page for page in PAGES if re.search(r"^ *(```|~~~) *mermaid", page.read_text(), re.MULTILINE)] == []


def test_the_overview_leads_to_each_layer_of_models() -> None:
    linked = re.findall(r"\]\(#!/model/model\.delta_scd2\.(\w+)\)", (ROOT / "models" / "overview.md").read_text())
    models = [path for path in (ROOT / "models").rglob("*") if path.suffix in (".sql", ".py")]
    layers = {path.stem: path.relative_to(ROOT / "models").parts[0] for path in models}
    # In the order of the data, and at last where to begin.
    assert [layers[model] for model in linked] == ["silver", "staging", "gold", "gold", "operations", "gold"]
    assert {layers[model] for model in linked} == {*layers.values()}


def test_the_guides_are_all_listed() -> None:
    guides = ROOT / "docs" / "guides"
    listed = {path for path, _ in LINK.findall((guides / "index.md").read_text())}
    assert listed == {page.name for page in guides.glob("*.md")} - {"index.md"}


def test_the_site_groups_the_guides_as_their_list_does() -> None:
    listed: list[dict[str, list[str]]] = []
    for line in (ROOT / "docs" / "guides" / "index.md").read_text().splitlines():
        if line.startswith("## "):
            listed.append({(group := line.removeprefix("## ")): []})
        elif found := re.match(r"- \[.*?\]\((.*?)\)", line):
            listed[-1][group].append(f"guides/{found[1]}")
    site = yaml_load((ROOT / "mkdocs.yml").read_text())
    (shown,) = [entry["Guides"] for entry in site["nav"] if "Guides" in entry]
    assert shown == ["guides/index.md", *listed]


def test_the_picture_shows_what_the_extracts_say_of_its_key() -> None:
    picture = (ROOT / "docs" / "images" / "life-of-a-key.svg").read_text()
    shown = re.findall(r'<text class="code[^>]*>([^<]+)<', picture)
    dates, values = [], []
    for path in sorted((ROOT / "data" / "airportsdata").glob("airports_*.csv.gz")):
        day = re.sub(r".*_(\d{4})(\d\d)(\d\d)\..*", r"\1-\2-\3", path.name)
        with gzip.open(path, "rt", newline="") as file:
            found = [(row["name"], row["subd"]) for row in csv.DictReader(file) if row["icao"] == "SWRP"]
        dates.append(day)
        values.append(found[0] if found else None)
    first, same, second, gone, third = values
    assert (first == same, first != second, gone) == (True, True, None)
    assert shown == [*(first or ()), *(second or ()), *(third or ()), *dates]


def test_each_variable_is_listed() -> None:
    page = (ROOT / "docs" / "reference" / "variables.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    templates = "\n".join(path.read_text() for path in (ROOT / "macros").rglob("*.sql"))
    profile = (ROOT / "profiles.yml").read_text()
    read = set(re.findall(r"\bvar\('(\w+)'", templates)) | set(re.findall(r"DELTA_SCD2_\w+", profile))
    assert "scd2_rebuild_from" in read
    assert sorted(listed) == sorted(read)


def test_each_option_of_a_dimension_is_listed() -> None:
    page, _, added_columns = (ROOT / "docs" / "reference" / "options.md").read_text().partition("\n## Added columns\n")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    config = (ROOT / "macros" / "scd2" / "config" / "scd2_config.sql").read_text()
    (known,) = re.findall(r"macro scd2_options\(\).*?\[(.*?)\]", config, re.DOTALL)
    # This one is an option of dbt-spark.
    assert sorted(listed) == sorted(["file_format", *re.findall(r"'(\w+)'", known)])
    (columns,) = re.findall(r"macro default_column_names\(\).*?{(.*?)}\)", config, re.DOTALL)
    assert re.findall(r"^\| `(\w+)` \|", added_columns, re.MULTILINE) == re.findall(r"'(\w+)':", columns)
