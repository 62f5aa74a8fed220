"""A starter model is written for a table, and builds as it stands."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date, datetime

import pytest

from harness import ROOT, DbtProject
from new_dimension import main

ORDER_MODEL = """\
-- Business key: a guess, look at it; unique and never null in 5 row(s).
-- A new `updated_at` alone opens no version, and is stored with the next one. Versions begin at the time of the
-- run.
-- The table has a change data feed. To read only what changed: source_kind='changelog',
-- effective_at='_commit_timestamp', sequence_by='_commit_version', and changes_since_last_run of the table.
-- Any change of a fraction opens a version; to round price, cast it to a decimal.
-- The map tags becomes its sorted entries, which can be compared.
{{ config(
    materialized="scd2",
    unique_key="order_id",
    ignore_columns="updated_at",
) }}

select
    order_id,
    size,
    `Größe`,
    price,
    array_sort(map_entries(tags)) as tags,
    updated_at
from {{ source("silver", "orders") }}
"""

ORDERS = [(f"o{n}", n % 3, "x", 1.5, {"a": n}, datetime(2024, 1, 1, n)) for n in range(1, 6)]
EXTRACTS = [
    (region, number, name, date(2024, 1, day))
    for day, name in ((1, "a"), (2, "b"))
    for region in ("north", "south")
    for number in (1, 2, 3)
]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    project = make_project({})
    project.load(
        "orders",
        "order_id string, size int, `Größe` string, price double, tags map<string, int>, updated_at timestamp",
        ORDERS,
    )
    project.sql("alter table {schema}.orders set tblproperties (delta.enableChangeDataFeed = true)")
    project.load("store_extracts", "region string, no int, name string, extracted_on date", EXTRACTS)
    project.sql(
        "create view {schema}.flags as select *"
        " from values (1, 'a', 'b', false, date '2024-01-01', 'x'), (2, 'b', 'c', true, null, 'x')"
        " as flags (flag_no, `Flag Name`, flag_name, is_deleted, Effective_To, hash_diff)"
    )
    project.load(
        "suppliers",
        "name string, country string, supplier_no int, place_code int",
        [("a", "north", 1, 7), ("b", "north", 2, 7), ("c", "south", 1, 7), ("d", "south", 2, 8)],
    )
    project.load(
        "vendors",
        "name string, country string, supplier_no int",
        [(f"Muster {n}", "CH" if n < 10 else "DE", n % 9) for n in range(1, 12)],
    )
    project.sql("create view {schema}.places as select distinct place_code, name as code_name from {schema}.suppliers")
    project.load("notes", "text string, mood string", [("a", "x"), ("a", "x")])
    return project


@pytest.fixture
def ask(project: DbtProject, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """A function that runs the command and returns its status and what it printed at the end."""

    def run(source: str, *options: str) -> tuple[int, str]:
        os.environ["DELTA_SCD2_SCHEMA"] = project.schema
        places = ("--project-dir", str(project.directory), "--profiles-dir", str(ROOT))
        status = main([source.replace("{schema}", project.schema), *options, *places])
        printed = capsys.readouterr()
        return status, printed.err if status else printed.out

    return run


def text(project: DbtProject, path: str) -> str:
    return (project.directory / "models" / "gold" / path).read_text().replace(project.schema, "silver")


def test_starter_models_build_with_their_tests(project: DbtProject, ask) -> None:
    assert ask("{schema}.orders")[0] == 0
    assert ask("{schema}.store_extracts")[0] == 0
    status, printed = ask(
        "{schema}.orders", "--name", "dim_order_too", "--language", "python", "--key", "order_id,size"
    )
    assert (status, printed) == (
        0,
        "business key of dim_order_too: order_id, size (given; unique and never null in 5 row(s))\n"
        "wrote models/gold/dim_order_too.py\nwrote models/gold/dim_order_too.yml\n"
        "Look at the files, then: dbt build --select +dim_order_too\n",
    )

    assert text(project, "dim_order.sql") == ORDER_MODEL
    assert 'unique_key=["region", "no"],\n    effective_at="extracted_on",' in text(project, "dim_store.sql")
    assert 'unique_key=["order_id", "size"]' in text(project, "dim_order_too.py")
    built = project.succeed("build", "--select", "dim_order", "dim_store", "dim_order_too")
    assert {name: built[name].message.split(",")[0] for name in ("dim_order", "dim_store", "dim_order_too")} == {
        "dim_order": "CREATE 5 opened",
        "dim_store": "CREATE 12 opened",
        "dim_order_too": "CREATE 5 opened",
    }
    assert sum(result.node.resource_type == "test" for result in built.values()) >= 30


def test_a_column_named_as_the_key_that_repeats_is_part_of_it(project: DbtProject, ask) -> None:
    assert "business key of dim_supplier: country, supplier_no (a guess" in ask("{schema}.suppliers")[1]
    # Before a name, also where few numbers repeat and the table is called otherwise.
    assert "business key of dim_vendor: country, supplier_no (a guess" in ask("{schema}.vendors")[1]
    # Not beside a column that is unique by itself.
    assert "business key of dim_place: code_name (a guess" in ask("{schema}.places")[1]


def test_names_that_the_dimension_cannot_take_are_changed(project: DbtProject, ask) -> None:
    assert ask("{schema}.flags", "--key", "flag_no")[0] == 0
    drafted = text(project, "dim_flag.sql")
    assert drafted.split("select\n")[1] == (
        "    flag_no,\n    `Flag Name` as `Flag_Name_2`,\n    flag_name,\n    is_deleted as source_is_deleted,\n"
        '    `Effective_To` as `source_Effective_To`\nfrom {{ source("silver", "flags") }}\n'
    )
    assert "-- Left out, because the dimension makes its own: hash_diff.\n" in drafted
    built = project.succeed("build", "--select", "dim_flag")
    assert built["dim_flag"].message == "CREATE 2 opened, 0 closed, 0 deleted"


def test_a_key_named_as_the_dimension_would_name_its_own_is_kept(project: DbtProject, ask) -> None:
    project.load("sat_customer", "customer_hk string, `kunden-nr` int", [("a1", 7), ("b2", 8)])
    assert ask("{schema}.sat_customer", "--name", "dim_customer", "--key", "customer_hk,kunden-nr")[0] == 0
    assert "    customer_hk as source_customer_hk,\n    `kunden-nr`\n" in text(project, "dim_customer.sql")
    built = project.succeed("build", "--select", "dim_customer")
    assert built["dim_customer"].message == "CREATE 2 opened, 0 closed, 0 deleted"


def test_a_seed_in_upper_case_is_found(project: DbtProject, ask) -> None:
    project.write({"seeds/Towns.csv": "town_no,name\n1,Bern\n2,Chur\n"})
    project.succeed("seed")
    assert ask("{schema}.towns")[0] == 0
    drafted = text(project, "dim_town.sql")
    assert 'from {{ ref("Towns") }}\n' in drafted
    assert "-- A seed stores 0001 as 1; if town_no is a text, say so in the column_types of the seed.\n" in drafted


def test_a_date_of_the_business_is_no_time_of_an_extract(project: DbtProject, ask) -> None:
    project.load("films", "film_no int, released_on date", [(1, date(2024, 1, 1)), (2, date(2024, 1, 1))])
    assert ask("{schema}.films")[0] == 0
    assert "effective_at" not in text(project, "dim_film.sql")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("{schema}.order",),
            "there is no table `{schema}.order`.\nNothing was written. Remedy: did you mean `{schema}.orders`?",
        ),
        (
            ("nowhere.notes",),
            "there is no schema `nowhere`.\nNothing was written. Remedy: did you mean `{schema}.notes`?",
        ),
        (("{schema}.notes",), "no column of {schema}.notes, and no pair of columns, is unique and without nulls"),
        (("{schema}.notes", "--key", "mod"), "`key` names the column `mod`, which {schema}.notes lacks"),
        (("{schema}.orders", "--name", "x", "--key", "tags"), "`key` names the column `tags` of type map<string,int>"),
        (("{schema}.notes", "--key", "mood"), "`mood` does not identify the rows of {schema}.notes: 1 of them"),
        (("{schema}.orders", "--name", "dim x"), "`dim x` is not a name for a model"),
        (("{schema}.orders", "--name", "dim_known"), "`dim_known` exists already, in models/dim_known.sql"),
        (("{schema}.orders", "--name", "dim_taken"), "models/gold/dim_taken.yml exists already: move it"),
    ],
)
def test_what_cannot_be_written_is_refused(project: DbtProject, ask, arguments, sentence: str) -> None:
    project.write({"models/gold/dim_taken.yml": "version: 2\n", "models/dim_known.sql": "select 1 as id"})
    status, printed = ask(*arguments)
    assert status == 1
    assert sentence.replace("{schema}", project.schema) in printed
    assert text(project, "dim_taken.yml") == "version: 2\n"
