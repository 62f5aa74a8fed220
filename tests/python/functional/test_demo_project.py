"""The project as a newcomer builds it: the real releases, the demo dimensions, a second build, and the documentation
site."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from contextlib import redirect_stdout, suppress
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner, dbtRunnerResult
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import docs_site
from build import NEXT, Build
from harness import ROOT, session

DIMENSIONS = ["dim_airport", "dim_airport_sql", "dim_customer", "dim_sales"]
TARGET_SCHEMA = "demo"
WITHOUT_TESTS = ["--exclude", "resource_type:test", "resource_type:unit_test"]
DATA = ROOT / "data" / "airportsdata"
RELEASES = ["20210425", "20220107", "20230303", "20240119", "20250204"]
Release = dict[str, dict[str, str]]
Airport = tuple[str | Decimal | None, ...]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("target")


@pytest.fixture(scope="module")
def paths(target: Path) -> list[str]:
    places = {"--project-dir": ROOT, "--profiles-dir": ROOT, "--target-path": target, "--log-path": target / "logs"}
    return [str(word) for place in places.items() for word in place]


@pytest.fixture(scope="module")
def dbt(paths: list[str]):
    def invoke(*args: str, schema: str = TARGET_SCHEMA) -> dbtRunnerResult:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DELTA_SCD2_SCHEMA", schema)
            result = dbtRunner().invoke([*args, *paths])
        assert result.success, result.exception or [
            r.message for r in result.result.results if r.status not in ("success", "pass")
        ]
        return result

    return invoke


@pytest.fixture(scope="module")
def printed(paths: list[str]) -> str:
    """The demo is built as by `make build`, without the tests that it runs; what that prints."""
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output):
        patch.setenv("DELTA_SCD2_SCHEMA", TARGET_SCHEMA)
        code = Build(paths, WITHOUT_TESTS).run()
    assert code == 0, output.getvalue()
    return output.getvalue()


def rows(query: str) -> list[tuple]:
    return [tuple(row) for row in session().sql(query.replace("{gold}", f"{TARGET_SCHEMA}_gold")).collect()]


def versions() -> dict[str, int]:
    return {name: rows(f"describe history {{gold}}.{name} limit 1")[0][0] for name in DIMENSIONS}


def silver_versions(schema: str) -> list[int]:
    """All versions of the table that the releases are loaded into."""
    return [version for version, *_ in rows(f"describe history {schema}_silver.airports")]


def test_one_dimension_builds_where_no_other_was_built(dbt) -> None:
    results = dbt("build", "--select", "+dim_customer", schema="alone").result.results
    assert {r.node.name for r in results if r.node.resource_type == "model"} == {"stg_crm__customers", "dim_customer"}
    assert "delta_scd2_no_overlapping_validity_dim_customer_" in {r.node.name for r in results}


def test_an_empty_run_loads_no_release_again(dbt) -> None:
    dbt("run", "--empty", "--select", "stg_airportsdata__airports", schema="alone")
    dbt("run", "--empty", "--select", "stg_airportsdata__airports", schema="alone")
    assert silver_versions("alone") == [0]


# Counted from the five files with Python's csv and decimal modules.
AIRPORTS = """
2021-04-25           28,864        0         0        0  28,864
2022-01-07               13       47         0        2  28,875
2023-03-03            2,137   12,788         0    2,882  28,130
2024-01-19               19    1,356         0       14  28,135
2025-02-04              310    1,823        77      248  28,274
"""


def test_a_build_ends_with_its_result(printed: str, target: Path) -> None:
    lines = printed.splitlines()
    assert [line for line in lines if "PASS" in line or "START" in line] == []
    assert len(lines) < 50
    table = lines[lines.index("") :]
    first, *later = AIRPORTS.split("\n")[1:-1]
    assert table[:14] == [
        "",
        "dimension        extract (UTC)           new  changed  returned  deleted    live",
        f"dim_airport      {first}",
        *(f"{'':<17}{line}" for line in later),
        f"dim_airport_sql  {first}",
        *(f"{'':<17}{line}" for line in later),
        "dim_customer     2022-01-01                3        0         0        0       3",
        "                 2022-09-01 14:42:01       1        1         0        1       3",
    ]
    # The products changed while the test ran.
    products = [line.split() for line in table[14:16]]
    assert [products[0][0], *products[0][-5:]] == ["dim_product", "3", "0", "0", "0", "3"]
    assert products[1][-5:] == ["1", "2", "0", "1", "3"]
    assert table[16:20] == [
        "dim_sales        2023-05-12                4        0         0        0       4",
        "                 2023-06-08                1        1         0        1       4",
        "",
        f"tables: {TARGET_SCHEMA}_gold, in {os.environ['DELTA_SCD2_HOME']}/warehouse/{TARGET_SCHEMA}_gold.db",
    ]
    assert table[20] == f"log: {target}/logs/dbt.log, with every statement and every test"
    assert [line.strip().split("  ")[0] for line in table[22:]] == [*NEXT]
    assert "OK created python scd2 model demo_gold.dim_airport" in (target / "logs" / "dbt.log").read_text()


def test_airports_have_their_whole_history(printed: str) -> None:
    # Counted as above.
    assert "  dim_airport      CREATE 47,434 opened, " in printed
    assert rows("select count(*), count(distinct icao) from {gold}.dim_airport") == [(47434, 31343)]
    assert rows("select count(*) from {gold}.dim_airport where is_current and is_deleted") == [(3069,)]
    released = rows("select distinct effective_from from {gold}.dim_airport order by 1")
    assert [str(ts)[:10] for (ts,) in released] == [
        "2021-04-25", "2022-01-07", "2023-03-03", "2024-01-19", "2025-02-04",
    ]  # fmt: skip


def test_five_extracts_are_one_commit(printed: str) -> None:
    history = session().sql("describe history demo_gold.dim_airport_sql").collect()
    writes = [row.operation for row in history if row.operation != "SET TBLPROPERTIES"]
    assert writes == ["CREATE OR REPLACE TABLE AS SELECT"]


def test_a_second_build_adds_no_version(printed: str, dbt) -> None:
    before = versions()
    dbt("build", "--select", *(f"+{name}" for name in DIMENSIONS), *WITHOUT_TESTS)
    assert versions() == before
    assert silver_versions(TARGET_SCHEMA) == [0]


def test_the_next_run_reads_the_feed_of_what_changed(printed: str) -> None:
    assert "  dim_product      CREATE 3 opened, 0 closed, 0 deleted" in printed
    assert "  dim_product      MERGE 3 opened, 2 closed, 1 deleted" in printed
    query = (
        "select product_no, category, cast(price as string), product_commit_version, is_current, is_deleted"
        " from {gold}.dim_product order by product_no, effective_from"
    )
    assert rows(query) == [
        ("P-100", "kitchen", "39.90", 0, False, False),
        ("P-100", "kitchen", "36.90", 1, True, False),
        ("P-200", "office", "24.50", 0, False, False),
        ("P-200", "home", "24.50", 1, True, False),
        ("P-300", "office", "3.20", 0, True, True),
        ("P-400", "kitchen", "42.00", 1, True, False),
    ]


@pytest.fixture(scope="module")
def files() -> dict[str, Release]:
    """By release and key, the rows as Python reads them."""
    found = {}
    for release in RELEASES:
        with gzip.open(DATA / f"airports_{release}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            found[release] = {row["icao"]: row for row in csv.DictReader(file)}
    return found


def typed(row: dict[str, str]) -> Airport:
    coordinates = [Decimal(row[name]).quantize(Decimal("0.00001"), ROUND_HALF_UP) for name in ("lat", "lon")]
    texts = [row.get(name, "").strip(" ") or None for name in ("iata", "lid", "name", "city", "subd", "country", "tz")]
    return (Decimal(row["elevation"]), *coordinates, *texts)


def test_silver_holds_the_cells_of_the_files(printed: str, files: dict[str, Release]) -> None:
    silver = session().sql(f"select * from {TARGET_SCHEMA}_silver.airports").collect()
    loaded: dict[str, Release] = {release: {} for release in RELEASES}
    for row in silver:
        cells = row.asDict()
        release = f"{cells.pop('released_on'):%Y%m%d}"
        loaded[release][cells["icao"]] = {name: cell for name, cell in cells.items() if cell is not None}

    assert len(silver) == sum(len(airports) for airports in files.values())
    for release, airports in files.items():
        expected = {icao: {name: cell for name, cell in row.items() if cell != ""} for icao, row in airports.items()}
        assert loaded[release] == expected


def test_only_a_new_value_changes_the_hash(printed: str, files: dict[str, Release]) -> None:
    expected = []
    for before, after in pairwise(files.values()):
        kept = before.keys() & after.keys()
        expected.append((sum(typed(before[icao]) != typed(after[icao]) for icao in kept),))

    changed = rows(f"""
        with hashed as (
            select
                airport_hk,
                released_at,
                hash_diff,
                dense_rank() over (order by released_at) as release
            from {TARGET_SCHEMA}_staging.stg_airportsdata__airports
        )
        select count_if(before.hash_diff <> after.hash_diff) as airports
        from hashed as before
        inner join hashed as after on before.airport_hk = after.airport_hk and before.release + 1 = after.release
        group by after.release
        order by after.release
    """)
    assert changed == expected


def test_a_release_starts_with_its_day_in_utc(printed: str) -> None:
    in_tokyo = rows(f"""
        select distinct date_format(from_utc_timestamp(released_at, 'Asia/Tokyo'), 'yyyyMMdd HH:mm') as in_tokyo
        from {TARGET_SCHEMA}_staging.stg_airportsdata__airports
        order by in_tokyo
    """)
    assert in_tokyo == [(f"{release} 09:00",) for release in RELEASES]


@pytest.fixture(scope="module")
def site(printed: str, dbt, target: Path) -> Path:
    dbt("docs", "generate", "--static")
    return target / "static_index.html"


def test_every_model_and_column_is_described(site: Path, target: Path) -> None:
    manifest = json.loads((target / "manifest.json").read_text())
    catalog = json.loads((target / "catalog.json").read_text())
    undescribed = []
    nodes = {**manifest["nodes"], **manifest["sources"]}
    for name, node in nodes.items():
        if node["resource_type"] not in ("model", "source", "snapshot"):
            continue
        if not node["description"]:
            undescribed.append(name)
        documented = {column.lower() for column, entry in node["columns"].items() if entry["description"]}
        found = {**catalog["nodes"], **catalog["sources"]}.get(name, {"columns": {}})
        if node["resource_type"] != "snapshot":
            undescribed += [f"{name}.{column}" for column in found["columns"] if column.lower() not in documented]
    assert undescribed == []


@pytest.fixture(scope="module")
def whole_site(site: Path, target: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make docs` makes of the demo."""
    messages: list[str] = []
    runner = dbtRunner(callbacks=[lambda event: messages.append(event.info.msg)])
    elsewhere = str(tmp_path_factory.mktemp("operation"))
    arguments = ["run-operation", "print_lineage_sql", "--project-dir", str(ROOT), "--profiles-dir", str(ROOT)]
    assert runner.invoke([*arguments, "--target-path", elsewhere, "--log-path", elsewhere]).success
    (target / "lineage_sql.json").write_text(next(text for text in messages if text.startswith("{")))
    assert docs_site.main(target) == 0
    return target / "site"


def test_every_column_of_a_dimension_has_its_origin(whole_site: Path) -> None:
    lineage = json.loads((whole_site / "lineage" / "colibri-manifest.json").read_text())["lineage"]["parents"]

    def origin(model: str, column: str) -> set[str]:
        parents = lineage[f"model.delta_scd2.{model}"][column]
        return {parent["dbt_node"].split(".")[-1] + "." + parent["column"] for parent in parents}

    assert origin("dim_customer", "customer_sk") == {
        "stg_crm__customers.region", "stg_crm__customers.customer_no", "stg_crm__customers.extracted_at"
    }  # fmt: skip
    assert origin("dim_customer", "hash_diff") == {"stg_crm__customers.name"}
    assert origin("dim_airport", "effective_from") == {"stg_airportsdata__airports.released_at"}
    assert origin("fct_order", "customer_sk") == {"dim_customer.customer_sk"}
    unknown = [
        f"{model.split('.')[-1]}.{column}"
        for model, columns in lineage.items()
        for column, parents in columns.items()
        if model.startswith("model.") and not model.endswith(".scd2_loads") and not parents
    ]
    # What Delta's feed adds to the columns of its table.
    assert unknown == ["dim_product.product_commit_version", "dim_product.effective_from"]


def test_a_site_without_tables_names_the_remedy(whole_site: Path, target: Path, tmp_path: Path) -> None:
    catalog = json.loads((target / "catalog.json").read_text())
    del catalog["nodes"]["model.delta_scd2.fct_order"]
    (tmp_path / "catalog.json").write_text(json.dumps(catalog))
    for name in ("manifest.json", "lineage_sql.json"):
        (tmp_path / name).symlink_to(target / name)
    problems = docs_site.write_lineage(tmp_path, tmp_path / "lineage")
    assert problems[0].startswith("run `make build` first")
    assert problems[1:] == ["model.delta_scd2.fct_order"]


GRAPH_NODES = """
    const holder = [...document.querySelectorAll('*')].find(element => element._cyreg);
    return holder ? holder._cyreg.cy.nodes(':visible').map(node => node.id()) : [];
"""


def test_the_site_shows_the_lineage_of_dim_airport(site: Path, browser: webdriver.Chrome) -> None:
    browser.get(f"file://{site}#!/model/model.delta_scd2.dim_airport?g_v=1&g_i=%2Bdim_airport")
    lineage = {
        "source.delta_scd2.airportsdata.airports",
        "model.delta_scd2.stg_airportsdata__airports",
        "model.delta_scd2.dim_airport",
    }
    # The page may show all nodes for a moment, before it hides the others.
    with suppress(TimeoutException):
        WebDriverWait(browser, 30).until(lambda chrome: set(chrome.execute_script(GRAPH_NODES)) == lineage)
    assert set(browser.execute_script(GRAPH_NODES)) == lineage


def test_the_site_leads_to_the_columns_and_loads_nothing_from_elsewhere(
    whole_site: Path, browser: webdriver.Chrome
) -> None:
    wait = WebDriverWait(browser, 30, ignored_exceptions=[StaleElementReferenceException])
    browser.get(f"file://{whole_site}/models.html")
    browser.find_element(By.XPATH, "//tr[td[1]='dim_customer']//a[.='lineage']").click()
    wait.until(lambda chrome: "effective_ts" in chrome.find_element(By.TAG_NAME, "body").text)
    shown = browser.find_element(By.TAG_NAME, "body").text
    assert "stg_crm__customers" in shown
    assert "crm_customer_extracts" in shown
    browser.get(f"file://{whole_site}/dbt/index.html")
    wait.until(lambda chrome: "delta_scd2" in chrome.find_element(By.TAG_NAME, "body").text)
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requests = {event["params"]["request"]["url"] for event in sent if event["method"] == "Network.requestWillBeSent"}
    assert f"file://{whole_site}/models.html" in requests
    assert [url for url in requests if not url.startswith(("chrome:", "file:", "data:", "blob:"))] == []
