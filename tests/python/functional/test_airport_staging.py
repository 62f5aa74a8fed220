"""The five real releases, from the compressed files to typed staging rows."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

import pytest

from harness import PROJECT_YML, ROOT, DbtProject

DATA = ROOT / "data" / "airportsdata"
STAGING = "models/staging/airportsdata"
RELEASES = ["20210425", "20220107", "20230303", "20240119", "20250204"]
Airport = tuple[str | Decimal | None, ...]


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    files = {f"{STAGING}/{path.name}": path.read_text() for path in (ROOT / STAGING).iterdir()}
    hook = f"on-run-start: \"{{{{ delta_scd2.load_airports('{DATA}') }}}}\"\n"
    project = make_project({**files, "dbt_project.yml": PROJECT_YML + hook})
    project.succeed("run")
    return project


@pytest.fixture(scope="module")
def files() -> dict[str, dict[str, dict[str, str]]]:
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


def test_silver_holds_the_cells_of_the_files(project: DbtProject, files: dict[str, dict[str, dict[str, str]]]) -> None:
    rows = project.sql("select * from {schema}_silver.airports")
    loaded = {release: {} for release in RELEASES}
    for row in rows:
        cells = row.asDict()
        release = f"{cells.pop('released_on'):%Y%m%d}"
        loaded[release][cells["icao"]] = {name: cell for name, cell in cells.items() if cell is not None}

    assert len(rows) == sum(len(airports) for airports in files.values())
    for release, airports in files.items():
        expected = {icao: {name: cell for name, cell in row.items() if cell != ""} for icao, row in airports.items()}
        assert loaded[release] == expected


def test_only_a_new_value_changes_the_hash(project: DbtProject, files: dict[str, dict[str, dict[str, str]]]) -> None:
    expected = []
    for before, after in pairwise(files.values()):
        kept = before.keys() & after.keys()
        expected.append(sum(typed(before[icao]) != typed(after[icao]) for icao in kept))

    changed = project.sql("""
        with hashed as (
            select
                airport_hk,
                released_at,
                hash_diff,
                dense_rank() over (order by released_at) as release
            from {schema}.stg_airportsdata__airports
        )
        select count_if(before.hash_diff <> after.hash_diff) as airports
        from hashed as before
        inner join hashed as after on before.airport_hk = after.airport_hk and before.release + 1 = after.release
        group by after.release
        order by after.release
    """)
    assert [row.airports for row in changed] == expected


def test_a_release_starts_with_its_day_in_utc(project: DbtProject) -> None:
    rows = project.sql("""
        select distinct date_format(from_utc_timestamp(released_at, 'Asia/Tokyo'), 'yyyyMMdd HH:mm') as in_tokyo
        from {schema}.stg_airportsdata__airports
        order by in_tokyo
    """)
    assert [row.in_tokyo for row in rows] == [f"{release} 09:00" for release in RELEASES]


def test_a_second_run_loads_nothing(project: DbtProject) -> None:
    project.succeed("run")
    project.succeed("run", "--empty")
    history = project.sql("describe history {schema}_silver.airports")
    assert [row.version for row in history] == [0]
