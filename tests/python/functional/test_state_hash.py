"""A dimension that keeps the short hash by which a load tells whether a row is as it was."""

from __future__ import annotations

import re
from datetime import datetime

import pytest

from harness import INVARIANTS, DbtProject, tuples
from oracle import apply_extracts

MODEL = """
{{ config(materialized='scd2', unique_key='id', effective_at='at', scd2_columns=<names><options>) }}
select * from {{ target.schema }}.things
"""
KEPT = "{'surrogate_key': 'sk', 'state_hash': 'state_hash'}"
NOT_KEPT = "{'surrogate_key': 'sk'}"
PLANS = ["staged", pytest.param("three_clause", marks=pytest.mark.slow)]
DDL = "id int, value string, at timestamp"


def model(names: str = KEPT, options: str = "") -> str:
    return MODEL.replace("<names>", names).replace("<options>", options)


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    return make_project({})


def compared(statements: list[str]) -> list[str]:
    """What the searches for the changed keys, and comparisons, read of the dimension as its state hash."""
    end = r"as (?:_scd2_)?state_hash\s"
    search = re.compile(rf"__scd2_(?:changed_keys|compared)_.*? as (?:_scd2_)?key_hash,\s*(.*?) {end}", re.DOTALL)
    return [read for statement in statements for read in search.findall(statement)]


def load(project: DbtProject, name: str, day: int, values: dict[int, str | None]) -> str:
    rows = [(key, value, datetime(2024, 1, day)) for key, value in values.items()]
    project.load("things", DDL, rows)
    return project.succeed("run", "--select", name)[name].message


def versions(project: DbtProject, name: str) -> list[tuple]:
    columns = "id, value, day(effective_from), is_current, is_deleted"
    return tuples(project.sql(f"select {columns} from {{schema}}.{name} order by 1 nulls first, 3"))


def without_hash(project: DbtProject, name: str) -> list[tuple]:
    return tuples(project.sql(f"select id, value from {{schema}}.{name} where state_hash is null order by id, value"))


@pytest.mark.parametrize("plan", PLANS)
def test_a_load_compares_with_the_hash_that_the_one_before_stored(
    project: DbtProject, plan: str, statements: list[str]
) -> None:
    name = f"dim_{plan}"
    options = f", merge_plan='{plan}', unknown_member=true"
    project.write(
        {
            f"models/{name}.sql": model(options=options),
            "models/schema.yml": f"version: 2\nmodels: [{{name: {name}, data_tests: {INVARIANTS}}}]\n",
        }
    )
    load(project, name, 1, {1: "a", 2: "a", 3: "a", 4: None})
    message = load(project, name, 2, {1: "b", 2: "a", 4: None, 5: "new"})
    assert message.startswith("MERGE 2 opened, 1 closed, 1 deleted")
    message = load(project, name, 3, {1: "a", 2: "a", 3: "back", 4: "known", 5: "new"})
    assert message.startswith("MERGE 3 opened, 2 closed, 0 deleted")
    assert load(project, name, 4, {1: "a", 2: "a", 3: "back", 4: "known", 5: "new"}) == "UNCHANGED"

    assert compared(statements) == ["`state_hash`"] * 3
    assert [row for row in versions(project, name) if row[3]] == [
        (None, None, 1, True, False),
        (1, "a", 3, True, False),
        (2, "a", 1, True, False),
        (3, "back", 3, True, False),
        (4, "known", 3, True, False),
        (5, "new", 2, True, False),
    ]
    assert without_hash(project, name) == [(None, None)]
    project.succeed("test", "--select", name)


def test_a_hash_that_is_stale_is_written_anew_and_opens_nothing(project: DbtProject) -> None:
    project.write({"models/dim_stale.sql": model()})
    load(project, "dim_stale", 1, {1: "a", 2: "a", 3: "a"})
    hashes = "select id, state_hash from {schema}.dim_stale order by id"
    before = project.sql(hashes)
    project.sql("update {schema}.dim_stale set state_hash = if(id = 1, null, 0) where id < 3")
    assert load(project, "dim_stale", 2, {1: "a", 2: "a", 3: "a"}) == "MERGE 0 opened, 0 closed, 0 deleted, 2 altered"
    assert project.sql(hashes) == before
    assert load(project, "dim_stale", 3, {1: "a", 2: "a", 3: "a"}) == "UNCHANGED"


@pytest.mark.parametrize("plan", PLANS)
def test_a_dimension_may_begin_and_cease_to_keep_the_hash(project: DbtProject, plan: str) -> None:
    name = f"dim_later_{plan}"
    options = f", merge_plan='{plan}'"
    project.write({f"models/{name}.sql": model(NOT_KEPT, options)})
    days = {datetime(2024, 1, 1): {1: "a", 2: "a", 3: "a"}, datetime(2024, 1, 2): {1: "b", 2: "a", 3: "a"}}
    project.load("things", DDL, [(key, value, day) for day, values in days.items() for key, value in values.items()])
    project.succeed("run", "--select", name)

    project.write({f"models/{name}.sql": model(KEPT, options)})
    assert load(project, name, 3, {1: "b", 2: "c", 3: "a"}) == "MERGE 1 opened, 1 closed, 0 deleted, 2 altered"
    assert without_hash(project, name) == [(1, "a")]
    assert load(project, name, 4, {1: "b", 2: "c", 3: "a"}) == "UNCHANGED"

    project.write({f"models/{name}.sql": model(KEPT.replace("'state_hash'}", "none}"), options)})
    assert load(project, name, 5, {1: "d", 2: "c", 3: "a"}).startswith("MERGE 1 opened, 1 closed, 0 deleted")
    project.write({f"models/{name}.sql": model(KEPT, options)})
    assert load(project, name, 6, {1: "d", 2: "c", 3: "a"}) == "MERGE 0 opened, 0 closed, 0 deleted, 3 altered"
    assert versions(project, name) == [
        (1, "a", 1, False, False),
        (1, "b", 2, False, False),
        (1, "d", 5, True, False),
        (2, "a", 1, False, False),
        (2, "c", 3, True, False),
        (3, "a", 1, True, False),
    ]


def test_keys_that_are_gone_when_the_hash_begins_are_deleted(project: DbtProject) -> None:
    kinds = ["soft_delete", "invalidate", "new_record"]
    names = [f"dim_gone_{kind}" for kind in kinds]
    search = ["--vars", "{scd2_read_twice_from: 0}"]
    extracts: dict[datetime, dict[int, str]] = {}

    def run(day: int, values: dict[int, str], is_kept: bool) -> None:
        for kind, name in zip(kinds, names, strict=True):
            options = f", hard_deletes='{kind}', max_delete_fraction=1"
            project.write({f"models/{name}.sql": model(KEPT if is_kept else NOT_KEPT, options)})
        extracts[datetime(2024, 1, day)] = values
        project.load("things", DDL, [(key, value, datetime(2024, 1, day)) for key, value in values.items()])
        project.succeed("run", "--select", *names, *search)
        for kind, name in zip(kinds, names, strict=True):
            assert versions(project, name) == [
                (key, value, since.day, is_current, is_deleted)
                for key, value, since, _, is_current, is_deleted in apply_extracts([*extracts.items()], kind)
            ], name

    run(1, {1: "a", 2: "a", 3: "a", 4: "a"}, is_kept=False)
    run(2, {1: "a", 2: "a", 3: "a"}, is_kept=True)
    # What comes again without a change writes no hash, so none of the loads before is taken for kept.
    run(3, {1: "b", 2: "a", 3: "a"}, is_kept=False)
    run(3, {1: "b", 2: "a", 3: "a"}, is_kept=True)
    run(4, {2: "a", 3: "c"}, is_kept=True)


@pytest.mark.slow
def test_what_loads_without_the_hash_wrote_is_compared_in_full(project: DbtProject) -> None:
    path, days = "models/dim_between.sql", iter(range(1, 9))

    def run(text: str, colour: str | None) -> None:
        project.write({path: text})
        project.load("things", f"{DDL}, colour string", [(1, "a", datetime(2024, 1, next(days)), colour)])
        project.succeed("run", "--select", "dim_between")

    run(model(), None)
    run(model(NOT_KEPT).replace("select *", "select id, value, at"), None)
    # The column comes back and fills the version in place, beside a hash from before.
    run(model(NOT_KEPT), "red")
    run(model(), None)
    found = project.sql("select colour, is_current from {schema}.dim_between order by effective_from")
    assert tuples(found) == [("red", False), (None, True)]


def test_the_hash_follows_the_columns(project: DbtProject) -> None:
    hashes = "select state_hash from {schema}.dim_columns where is_current order by id"
    found: list[tuple] = []
    # Columns of the same values: only what they are tells their hashes apart.
    for day, columns in (1, "*"), (2, "id, value as city, at"), (3, "cast(id as bigint) as id, value as city, at"):
        project.write({"models/dim_columns.sql": model().replace("select *", f"select {columns}")})
        load(project, "dim_columns", day, {1: "a", 2: "b"})
        found.extend(tuples(project.sql(hashes)))
    assert len(set(found)) == 6
    assert (None,) not in found
    assert load(project, "dim_columns", 4, {1: "a", 2: "b"}) == "UNCHANGED"
    assert tuples(project.sql(hashes)) == found[4:]


def test_a_column_that_cannot_be_the_hash_is_refused(project: DbtProject) -> None:
    project.write({"models/dim_wrong.sql": model()})
    project.load("things", "id int, state_hash string, at timestamp", [(1, "a", datetime(2024, 1, 1))])
    message = project.fail("run", "--select", "dim_wrong")
    assert "the model returns the column `state_hash`, which the materialization adds as its state_hash" in message

    project.write({"models/dim_wrong.sql": model(NOT_KEPT)})
    project.succeed("run", "--select", "dim_wrong")
    project.write({"models/dim_wrong.sql": model().replace("select *", "select id, at")})
    version = project.version("dim_wrong")
    message = project.fail("run", "--select", "dim_wrong")
    assert "the column `state_hash` of " in message
    assert "is string, and a state hash is bigint: give it another name in `scd2_columns`" in message
    project.write({"models/dim_wrong.sql": model(KEPT.replace("'state_hash'}", "'state hash'}"))})
    project.load("things", DDL, [(1, "a", datetime(2024, 1, 2))])
    assert "the column `state hash` has a character that Delta stores only with column mapping" in project.fail(
        "run", "--select", "dim_wrong"
    )
    assert project.version("dim_wrong") == version
