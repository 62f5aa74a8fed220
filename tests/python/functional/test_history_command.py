"""The command `delta-scd2` on real dimensions: what it prints and the figures of its page, beside plain counts of the
source rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner, Result
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession
from selenium import webdriver
from selenium.webdriver.common.by import By

from delta_scd2.history.cli import main
from delta_scd2.history.dimension import Dimension, UnreadableError, open_dimension, reading
from delta_scd2.history.page import Links, page_data
from delta_scd2.history.page import page as render
from harness import PROJECT_YML, ROOT, DbtProject

T = [datetime(2024, 1, day, 12) for day in range(1, 5)]
HOSTILE = "<script>document.title='stolen'</script>"
# What four extracts say of each key; nothing where they lack it.
STATES: dict[tuple[str, str], list[tuple[str | None, str | None] | None]] = {
    ("EU", "1"): [("Bern", "a"), ("Bern", "a"), ("Chur", "a"), ("Chur", "a")],
    ("EU", HOSTILE): [("</script><b>", None), (None, None), ("", None), None],
    ("US", "1"): [("Reno", "b"), None, ("Reno", "b"), ("Reno", "c")],
    ("US", "o'b"): [None, ("Troy", None), None, None],
    ("US", "7"): [("1", "1"), ("2", "1"), ("3", "1"), ("4", "2")],
}
COLUMNS = ["city", "grade"]

MODEL = """
{{ config(
    materialized='scd2', unique_key=['region', 'no'], effective_at='at', ignore_columns='note',
    <options>
) }}
select * from {{ target.schema }}.<source>
"""
OPTIONS = {
    "dim_place": """max_delete_fraction=1, unknown_member=true,
        flag_values=['Y', 'N'], open_end=none, closing_gap='1 millisecond'""",
    "dim_tombstone": """max_delete_fraction=1, hard_deletes=var('deletes', 'new_record'), surrogate_key='none',
        scd2_columns={'effective_from': 'From', 'effective_to': 'To', 'is_deleted': 'Gone'}""",
    "dim_event": "source_kind='changelog', change_type='op', sequence_by='seq', hard_deletes='invalidate'",
}

DESCRIPTION = "Places of <b>all</b> regions."
# Its key is given without the name of a column, as there is but one.
BINARY_MODEL = """
{{ print('what a model prints stands before what the command asked') }}
{{ config(
    materialized='scd2', unique_key='code', effective_at='at', ignore_columns='note', max_delete_fraction=1,
    alias=var('table_of_codes', 'dim_code')
) }}
select cast(no as binary) as code, city, grade, note, at
from {{ target.schema }}.extracts
where region = 'US'
"""

NESTED_MODEL = """
{{ config(materialized='scd2', unique_key='code', effective_at='at', ignore_columns='note', max_delete_fraction=1) }}
select named_struct('no', no) as code, city, grade, note, at
from {{ target.schema }}.extracts
where region = 'US'
"""


def walk() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """What happened to each key, from its states alone."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for key, states in STATES.items():
        steps = found.setdefault(key, [])
        known: list[tuple[str | None, str | None]] = []
        for ts, before, state in zip(T, [None, *states], states, strict=False):
            if state == before:
                continue
            kind = "absent" if state is None else "new" if not known else "changed" if before else "returned"
            pairs = zip(COLUMNS, known[-1], state, strict=True) if known and state else ()
            changes = [[column, old, new] for column, old, new in pairs if old != new]
            steps.append({"kind": kind, "from": str(ts), "changes": changes})
            known += [state] if state else []
    return found


WALK = walk()
VERSIONS = {key: sum(step["kind"] != "absent" for step in steps) for key, steps in WALK.items()}


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {
        f"models/{name}.sql": MODEL.replace("<options>", options).replace(
            "<source>", "events" if name == "dim_event" else "extracts"
        )
        for name, options in OPTIONS.items()
    }
    files["models/dim_unbuilt.sql"] = files["models/dim_place.sql"]
    files["models/dim_emptied.sql"] = files["models/dim_place.sql"]
    files["models/dim_nested.sql"] = NESTED_MODEL
    files["models/schema.yml"] = f"models: [{{name: dim_place, description: '{DESCRIPTION}'}}]"
    files["models/scd2_loads.sql"] = "{{ config(materialized='load_log') }}\n{{ delta_scd2.load_log_sql() }}"
    files["dbt_project.yml"] = PROJECT_YML + 'on-run-end: "{{ delta_scd2.log_loads(results) }}"\n'
    project = make_project({**files, "models/dim_code.sql": BINARY_MODEL})
    extracts: list[tuple[Any, ...]] = []
    events: list[tuple[Any, ...]] = []
    for key, states in STATES.items():
        for n, (before, state) in enumerate(zip([None, *states], states, strict=False)):
            if state:
                extracts.append((*key, *state, f"extract {n}", T[n]))
            if state != before:
                row = state or before
                assert row is not None
                events.append((*key, *row, f"event {n}", T[n], "U" if state else "D", n))
    ddl = "region string, no string, city string, grade string, note string, at timestamp"
    project.load("extracts", ddl, extracts)
    project.load("events", f"{ddl}, op string, seq int", events)
    project.succeed("run", "--exclude", "dim_unbuilt", "dim_emptied")
    project.succeed("run", "--empty", "--select", "dim_emptied")
    project.succeed("run", "--select", "dim_place")
    project.sql("delete from {schema}.scd2_loads where model = 'dim_nested'")
    return project


@pytest.fixture(scope="module")
def run(project: DbtProject):
    def invoke(*args: str) -> Result:
        places = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT)]
        return CliRunner(env={"COLUMNS": "100"}).invoke(main, [*args, *places])

    return invoke


@pytest.fixture(scope="module")
def page(run, tmp_path_factory: pytest.TempPathFactory):
    @cache
    def make(name: str, *options: str) -> Path:
        output: Path = tmp_path_factory.mktemp("report") / "new" / f"{name}.html"
        result = run("report", name, "--output", str(output), *options)
        assert result.exit_code == 0, result.output
        assert str(output) in result.output
        return output

    return make


@pytest.fixture(scope="module")
def pages(run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the pages on all dimensions."""
    directory = tmp_path_factory.mktemp("report") / "new"
    result = run("report", "--output", str(directory))
    assert result.exit_code == 0, result.output
    assert "dim_unbuilt has not been built: run `dbt build --select dim_unbuilt`.\n" in result.output
    assert f"all dimensions: {directory / 'index.html'} (" in result.output
    return directory


class Scripts(HTMLParser):
    """The scripts of a page, as a browser finds them."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: Counter[str] = Counter()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags[tag] += 1
        if tag == "script":
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script":
            self.texts[-1] += data


def data_of(page: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Scripts(page).texts[0])
    return found


@pytest.fixture(scope="module")
def told(page, pages: Path):
    """The data of a page: `dim_place` is written alone, the others together."""
    return lambda name: data_of(page(name) if name == "dim_place" else pages / f"{name}.html")


@pytest.mark.parametrize("name", OPTIONS)
def test_the_figures_of_the_page_are_those_of_the_rows(told, name: str) -> None:
    data = told(name)
    steps = [step for steps in WALK.values() for step in steps]
    live = sum(states[-1] is not None for states in STATES.values())
    assert data["totals"] == {
        "keys": len(STATES), "live": live, "deleted": len(STATES) - live, "versions": sum(VERSIONS.values()),
    }  # fmt: skip
    assert data["loads"] == [
        {
            "at": str(ts),
            **{
                kind: sum(step["from"] == str(ts) and step["kind"] == name_of_kind for step in steps)
                for kind, name_of_kind in {
                    "new": "new",
                    "changed": "changed",
                    "returned": "returned",
                    "deleted": "absent",
                }.items()
            },
            "live": sum(states[n] is not None for states in STATES.values()),
        }
        for n, ts in enumerate(T)
    ]
    assert {row["versions"]: row["keys"] for row in data["keys_by_versions"]} == {
        str(number): count for number, count in Counter(VERSIONS.values()).items()
    }
    changed = Counter(column for step in steps for column, _, _ in step["changes"])
    assert data["changes_by_column"] == [{"column": column, "times": times} for column, times in changed.most_common()]
    assert data["tracked"] == COLUMNS
    assert data["has_unknown_member"] == (name == "dim_place")


@pytest.mark.parametrize("name", OPTIONS)
def test_the_page_holds_the_timeline_of_every_key(told, name: str) -> None:
    data = told(name)
    found = {
        timeline["key"]: [
            {
                "kind": step["kind"],
                "from": step["from"],
                "changes": [
                    [data["columns"][position], old, new]
                    for position, old, new in step["changes"]
                    if data["columns"][position] in data["tracked"]
                ],
            }
            for step in timeline["steps"]
        ]
        for timeline in data["timelines"]
    }
    assert found == {f"region={region}, no={no}": steps for (region, no), steps in WALK.items()}


def test_a_page_holds_as_many_keys_and_versions_as_it_may(page) -> None:
    timelines = data_of(page("dim_place", "--keys", "2", "--versions", "2"))["timelines"]
    assert [(timeline["key"], timeline["earlier"]) for timeline in timelines] == [
        ("region=US, no=7", 2),
        (f"region=EU, no={HOSTILE}", 1),
    ]
    assert [step["from"] for step in timelines[0]["steps"]] == [str(T[2]), str(T[3])]
    # The first of them still tells what it changed.
    assert timelines[0]["steps"][0]["changes"][0] == [0, "2", "3"]


def test_a_value_is_text_wherever_it_stands(page) -> None:
    path = page("dim_place")
    tags = Scripts(path).tags
    assert (tags["script"], tags["b"]) == (2, 0)
    assert f"region=EU, no={HOSTILE}" in [timeline["key"] for timeline in data_of(path)["timelines"]]


def test_a_page_loads_nothing_from_elsewhere(page) -> None:
    text = page("dim_place").read_text()
    assert re.findall(r"https?://|\b(?:src|href)=|url\(|@import|fetch\(", text) == []
    assert "default-src 'none'" in text


def test_a_browser_shows_a_hostile_key_as_it_is_written(page, browser: webdriver.Chrome) -> None:
    browser.get(page("dim_place").as_uri())
    browser.find_element(By.ID, "search").send_keys("<SCRIPT>")
    assert browser.find_element(By.CSS_SELECTOR, "#timeline h3").text == f"region=EU, no={HOSTILE}"
    assert [item.text for item in browser.find_elements(By.CSS_SELECTOR, "#timeline .what")] == [
        "new", "changed", "changed", "deleted",
    ]  # fmt: skip
    assert "null" in browser.find_element(By.CSS_SELECTOR, "#timeline .changes ins").text
    assert unquote(browser.current_url.partition("#")[2]) == f"region=EU, no={HOSTILE}"
    assert browser.title == "dim_place · history"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


BUILT = ["dim_code", "dim_event", "dim_nested", "dim_place", "dim_tombstone"]


def test_the_list_and_the_pages_lead_to_each_other(pages: Path, run, browser: webdriver.Chrome) -> None:
    assert sorted(path.stem for path in pages.iterdir()) == [*BUILT, "index"]
    for name in BUILT:
        browser.get((pages / "index.html").as_uri())
        browser.find_element(By.LINK_TEXT, name).click()
        assert browser.find_element(By.TAG_NAME, "h1").text == name
        browser.find_element(By.LINK_TEXT, "All dimensions").click()
        assert browser.find_element(By.TAG_NAME, "h1").text == "tested"
    # A page that is written again by itself is still in the list; one with another name is not.
    for name, links in {"dim_code": 1, "other": 0}.items():
        assert run("report", "dim_code", "--output", str(pages / f"{name}.html")).exit_code == 0
        assert Scripts(pages / f"{name}.html").tags["a"] == links
    (pages / "other.html").unlink()


def test_the_list_tells_the_rows_and_the_last_load_of_each_dimension(
    pages: Path, project: DbtProject, browser: webdriver.Chrome
) -> None:
    browser.get((pages / "index.html").as_uri())
    cells = [" ".join(cell.text.split()) for cell in browser.find_elements(By.CSS_SELECTOR, ".dimensions td")]
    rows = {cells[start].split()[0]: cells[start : start + 5] for start in range(0, len(cells), 5)}
    assert list(rows) == sorted([*BUILT, "dim_emptied", "dim_unbuilt"])
    live = sum(states[-1] is not None for states in STATES.values())
    figures = [str(number) for number in (len(STATES), live, sum(VERSIONS.values()))]
    for name in OPTIONS:
        assert rows[name][1:4] == figures
    assert rows["dim_place"][0] == f"dim_place {DESCRIPTION}"

    logged = project.sql(
        "select model, date_format(max(started_at), 'yyyy-MM-dd HH:mm:ss'), max_by(opened, started_at),"
        " max_by(closed, started_at), max_by(deleted, started_at) from {schema}.scd2_loads group by model"
    )
    loads = {name: (at, *counts) for name, at, *counts in logged}
    # It was loaded twice; the second load found nothing new.
    assert loads["dim_place"][1:] == (0, 0, 0)
    assert rows["dim_place"][4] == f"{loads['dim_place'][0]} no version changed"
    at, opened, *_ = loads["dim_event"]
    assert rows["dim_event"][4].startswith(f"{at} {opened} opened")
    assert opened == sum(VERSIONS.values())
    # It is not in the log any more.
    assert rows["dim_nested"][4].endswith(" the newest commit of the table, which the load log does not have")
    for name in ("dim_emptied", "dim_unbuilt"):
        assert rows[name] == [
            f"{name} {name} has not been built: run dbt build --select {name}.", "", "", "", "never",
        ]  # fmt: skip
    commands = [code.text for code in browser.find_elements(By.CSS_SELECTOR, ".dimensions code")]
    assert commands == [f"dbt build --select {name}" for name in ("dim_emptied", "dim_unbuilt")]


def test_the_list_loads_nothing_from_elsewhere(pages: Path) -> None:
    text = (pages / "index.html").read_text()
    assert re.findall(r"https?://|\bsrc=|url\(|@import|fetch\(", text) == []
    assert re.findall(r"\bhref=\"([^\"]*)", text) == [f"{name}.html" for name in BUILT]
    assert "default-src 'none'" in text


def lines(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.output.splitlines()]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_terminal_tells_the_history_of_a_key(run, name: str) -> None:
    noon = "12:00:00"
    told = "\n".join(lines(run("history", name, "--key", "no=1", "--key", "REGION=US")))
    assert f"1 2024-01-01 {noon} 2024-01-02 {noon} new city Reno" in told
    assert re.search(rf"^2024-01-02 {noon} 2024-01-03 {noon} absent deleted, for 1 day$", told, re.MULTILINE)
    assert f"2 2024-01-03 {noon} 2024-01-04 {noon} returned note" in told
    assert f"3 2024-01-04 {noon} changed grade b → c" in told
    assert "current" in told.split("changed")[1]
    gone = lines(run("history", name, "--key", "no=o'b", "--key", "region=US"))
    assert f"2024-01-03 {noon} absent deleted, until now" in gone
    # A tombstone is a row of its own; `invalidate` leaves no current row.
    assert ("then deleted" in "\n".join(gone)) == (name != "dim_tombstone")
    assert ("still current" in "\n".join(gone)) == (name == "dim_place")


def test_a_binary_key_is_given_and_shown_in_hexadecimal(run) -> None:
    told = lines(run("history", "dim_code", "--key", "6f2762"))
    assert told[0].startswith("dim_code 6f2762")
    assert any(line.startswith("1 2024-01-02 12:00:00 2024-01-03 12:00:00 new city Troy") for line in told)
    unknown = run("history", "dim_code", "--key", "code=38")
    assert unknown.stderr == "Error: dim_code has no key 38; the nearest: 31; 37; 6F2762.\n"


def test_a_key_of_several_parts_is_given_as_it_is_shown(run) -> None:
    told = lines(run("history", "dim_nested", "--key", '{"no":"7"}'))
    assert any(line.startswith("1 2024-01-01 12:00:00 2024-01-02 12:00:00 new city 1") for line in told)
    assert run("history", "dim_nested", "--key", "7").stderr.startswith("Error: dim_nested has no key 7; the nearest: ")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("dim_plaice --key x", "No scd2 model is named dim_plaice; the nearest: dim_place"),
        ("dim_unbuilt --key x", "dim_unbuilt has not been built: run `dbt build --select dim_unbuilt`."),
        ("dim_emptied --key x", "dim_emptied has not been built: run `dbt build --select dim_emptied`."),
        ("dim_place", "Name a key of dim_place with --key region=… --key no=…; examples: region=EU, no=1; region=US"),
        ("dim_place --key regoin=EU", "regoin is not a column of the business key; the nearest: region"),
        ("dim_place --key region=US --key no=8", "dim_place has no key region=US, no=8; the nearest: region=US, no=1"),
        ("dim_code --key cod=38", "dim_code has no key cod=38 in code; the nearest: "),
        ("dim_code --key 3\x1b8\x07", "dim_code has no key 3\\x1b8\\x07; the nearest: "),
        ("dim_place --key x --target prod", "dbt could not describe the project: The profile "),
        ("dim_place --key x --profile other", "dbt could not describe the project: "),
        (
            'dim_tombstone --key x --vars {"deletes":"soft_delete"}',
            "dim_tombstone has 1 mistake(s) in the configuration: `hard_deletes` was `new_record` when ",
        ),
        ('dim_code --key x --vars {"table_of_codes":"elsewhere"}', "dim_code has not been built: run"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_sentence(run, args: str, sentence: str) -> None:
    result = run("history", *args.split())
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {sentence}")
    assert len(result.stderr.splitlines()) == 1


def test_a_page_that_cannot_be_written_is_said_in_one_sentence(run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("report", "dim_place", "--output", str(tmp_path / "file" / "page.html"))
    assert result.exit_code == 1
    assert re.fullmatch(r"Error: .*File exists: '.*/file'\n", result.stderr)


def test_what_a_model_prints_is_not_taken_for_the_answer(project: DbtProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_PRINT", "false")
    places = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT)]
    assert open_dimension("dim_code", [*places, "--no-partial-parse"]).keys == ["code"]


def test_many_times_are_counted_by_day_and_one_version_is_read(project: DbtProject) -> None:
    places = ["--project-dir", str(project.directory), "--profiles-dir", str(ROOT)]
    opened = open_dimension("dim_tombstone", places)
    by_time, by_day = opened.loads(limit=4), opened.loads(limit=3)
    midnight = timedelta(hours=12) // timedelta(microseconds=1)
    assert [{**vars(load), "at": load.at - midnight} for load in by_time] == [vars(load) for load in by_day]

    project.sql("delete from {schema}.dim_tombstone")
    assert sum(opened.keys_by_versions().values()) == len(STATES)
    emptied = open_dimension("dim_tombstone", places)
    assert emptied.versions(["US", "1"]) == []
    assert render(page_data(emptied, keys=5, versions=5), Links()).count("<h1>dim_tombstone</h1>") == 1


def opened(spark: SparkSession, project: DbtProject, name: str, tracked: str) -> Dimension:
    """A dimension that was made by hand, with the key `no`."""
    description = {
        "unique_id": f"model.tested.{name}", "relation": f"{project.schema}.{name}", "unique_key": ["no"],
        "sequence_by": [], "unknown_member": False, "keeps_tombstones": False, "yes": "true", "gap_micros": 0,
        "columns": {
            "effective_from": "began", "effective_to": "ended", "is_current": "is_current", "is_deleted": "is_deleted",
        },
        "is_open": "ended = timestamp '9999-12-31'", "recorded": {"scd2.track_columns": tracked},
    }  # fmt: skip
    return Dimension(name, description, spark)


# Python rounds a number of more than 28 digits.
LONG = "123456789012345678901234567890123456"


def test_a_decimal_key_is_not_rounded(spark: SparkSession, make_project) -> None:
    project = make_project({})
    project.sql("create schema if not exists {schema}")
    project.sql(
        "create table {schema}.dim_amount using delta as select cast(no as decimal(38, 2)) as no, 'a' as name, "
        "timestamp '2024-01-01' as began, timestamp '9999-12-31' as ended, true as is_current, false as is_deleted "
        f"from values ('1'), ('{LONG}.25') as amounts (no)"
    )
    dimension = opened(spark, project, "dim_amount", '["name"]')
    known = ("1", "1.00", "1.000", f"{LONG}.25", f"{LONG}.250")
    unknown = ("1.004", "0.995", "inf", "x", LONG, f"{LONG}.254")
    for key in (*known, *unknown):
        assert len(dimension.versions([key])) == (key in known), key


def test_the_order_of_the_entries_of_a_map_is_no_change(spark: SparkSession, make_project) -> None:
    project = make_project({})
    project.sql("create schema if not exists {schema}")
    maps = ["map('a', array(map(1, 'x', 2, 'y')), 'b', null)", "map('b', null, 'a', array(map(2, 'y', 1, 'x')))"]
    rows = [
        f"(1, 'old', {maps[0]}, timestamp '2024-01-01', timestamp '2024-01-02', false, false)",
        f"(1, 'new', {maps[1]}, timestamp '2024-01-02', timestamp '9999-12-31', true, false)",
    ]
    project.sql(
        "create table {schema}.dim_mapped using delta as select *, struct(attributes as inner) as nested,"
        " map(timestamp '2024-01-01 12:00:00Z', 1) as by_time, map(date '2024-01-01', map(X'00', 1)) as by_day,"
        " map(struct('x' as n, array(1.10) as amounts), 'x') as by_struct, map('k', 1) as by_text,"
        f" map(array('x'), 1) as by_array, map({LONG}.25, 1, {LONG}.26, 2) as by_amount"
        f" from values {', '.join(rows)} as versions (no, name, attributes, began, ended, is_current, is_deleted)"
    )
    by_key = {
        "by_time": '{"2024-01-01 12:00:00.000000":1}',
        "by_day": '{"2024-01-01":{"AA==":1}}',
        "by_struct": '{"{\\"n\\":\\"x\\",\\"amounts\\":[1.10]}":"x"}',
        "by_text": '{"k":1}',
        "by_array": '{"[\\"x\\"]":1}',
        "by_amount": f'{{"{LONG}.25":1,"{LONG}.26":2}}',
    }
    dimension = opened(spark, project, "dim_mapped", json.dumps(["name", "attributes", "nested", *by_key]))
    assert dimension.changes_by_column() == {"name": 1, "attributes": 0, "nested": 0, **dict.fromkeys(by_key, 0)}
    [_, newest] = dimension.versions(["1"])
    assert newest.values[1] == '{"a":[{"1":"x","2":"y"}],"b":null}'
    assert list(newest.values[3:]) == list(by_key.values())


def test_times_in_the_hour_that_comes_twice_differ(spark: SparkSession, make_project) -> None:
    project = make_project({})
    project.sql("create schema if not exists {schema}")
    moments = [f"timestamp '2024-10-27 0{hour}:30:00Z'" for hour in (0, 1)]
    rows = [
        f"({moments[0]}, {moments[0]}, timestamp '2024-01-01', timestamp '2024-01-02', false, false)",
        f"({moments[0]}, {moments[1]}, timestamp '2024-01-02', timestamp '9999-12-31', true, false)",
        f"({moments[1]}, {moments[1]}, timestamp '2024-01-01', timestamp '9999-12-31', true, false)",
    ]
    project.sql(
        "create table {schema}.dim_moment using delta as select *, struct(seen) as nested"
        f" from values {', '.join(rows)} as versions (no, seen, began, ended, is_current, is_deleted)"
    )
    home = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Zurich")
    try:
        dimension = opened(spark, project, "dim_moment", '["seen", "nested"]')
        assert dimension.changes_by_column() == {"seen": 1, "nested": 1}
        assert dimension.keys_by_versions() == {1: 1, 2: 1}
        first, second = (key for (key,) in dimension.nearest(["2024-10-27 02:30:00"]))
        assert (first, second) == ("2024-10-27 02:30:00", "2024-10-27 02:30:00+01:00")
        seen = [version.values[0] for version in dimension.versions([first])]
        assert seen == [first, second]
        assert [version.values[0] for version in dimension.versions([second])] == [second]
    finally:
        spark.conf.set("spark.sql.session.timeZone", home)


def test_a_lost_connection_is_said_in_one_sentence() -> None:
    message = r"^Spark cannot read dim_x: Answer from Java side is empty$"
    with pytest.raises(UnreadableError, match=message), reading("dim_x"):
        raise Py4JNetworkError("Answer from Java side\nis empty")


def test_a_table_that_spark_cannot_read_is_said_in_one_sentence(project: DbtProject, run, tmp_path: Path) -> None:
    location = project.sql("describe detail {schema}.dim_event")[0].location
    for file in Path(location.removeprefix("file:")).glob("*.parquet"):
        file.unlink()
    one_key = ["history", "dim_event", "--key", "region=EU", "--key", "no=1"]
    for args in (one_key, ["report", "dim_event", "--output", str(tmp_path / "page.html")]):
        result = run(*args)
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: Spark cannot read dim_event: [FAILED_READ_FILE")
        assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []

    # The list names it beside the dimensions that have a page; the page of an earlier day is gone.
    (tmp_path / "dim_event.html").touch()
    project.write({"models/dim_wrong.sql": MODEL.replace("<options>", "closing_gap='often', min_rows=-1")})
    result = run("report", "--output", str(tmp_path))
    wrong = "dim_wrong has 2 mistake(s) in the configuration: "
    assert f"{wrong}`closing_gap` is `often`, expected" in result.stdout
    assert wrong in (tmp_path / "index.html").read_text()
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Spark cannot read dim_event: [FAILED_READ_FILE")
    assert "Spark cannot read dim_event: [FAILED_READ_FILE" in (tmp_path / "index.html").read_text()
    assert (tmp_path / "dim_place.html").is_file()
    assert not (tmp_path / "dim_event.html").exists()
