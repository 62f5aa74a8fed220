"""Options beside the published cases: what is tracked, when a row became true, null ends, and what must not change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from harness import INVARIANTS, DbtProject, tuples
from hash_oracle import hash_of

DDL = "region string, id int, name string, note string, day date"
DAYS = [date(2024, 3, n) for n in (1, 2, 3)]
MIDNIGHTS = [datetime(2024, 3, n) for n in (1, 2, 3)]

EXTRACTS = [
    [("EU", 1, "a", "x"), ("EU", 2, None, "x"), ("US", 1, "c", "x")],
    [("EU", 1, "a", "y"), ("EU", 2, "", "y"), ("US", 1, "c", "x")],
    [("EU", 1, "b", "z"), ("EU", 2, "", "z")],
]

DATED = "unique_key=['region', 'id'], effective_at='DAY', materialized='scd2', scd2_columns={'surrogate_key': 'sk'}"
MODELS = {
    # A note is stored when a version opens, and never compared.
    "dim_ignoring": f"{{{{ config({DATED}, ignore_columns='note', open_end=none) }}}}",
    "dim_tracking": f"{{{{ config({DATED}, track_columns=['name'], hard_deletes='new_record') }}}}",
    "dim_gapped": f"{{{{ config({DATED}, track_columns=['name'], closing_gap='1 second', partition_by='is_current',"
    " tblproperties={'delta.checkpointInterval': '20'}) }}",
    "dim_by_clock": "{{ config(materialized='scd2', unique_key=['region', 'id'], track_columns='name') }}",
}

PYTHON_MODEL = """
def model(dbt, session):
    dbt.config(materialized="scd2", unique_key=["region", "id"], effective_at="day", ignore_columns="note")
    return dbt.source("silver", "extract")
"""

SAMPLED = """
{{ config(materialized='scd2', unique_key='id', effective_at='at') }}
select * from {{ target.schema }}.sampled
"""
QUERY = "\nselect * from {{ target.schema }}.extract"
NAMES = ["--vars", "{scd2_columns: {durable_key: 'the_{entity}_key'}}"]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {f"models/{name}.sql": config + QUERY for name, config in MODELS.items()}
    files["models/dim_python.py"] = PYTHON_MODEL
    files["models/sources.yml"] = (
        'version: 2\nsources: [{name: silver, schema: "{{ target.schema }}", tables: [{name: extract}]}]\n'
    )
    project = make_project(files)
    days = [[(*row, day) for row in rows] for rows, day in zip(EXTRACTS, DAYS, strict=True)]
    # The clock tells one extract from another only where each comes in a run of its own.
    for rows in days[:2]:
        project.load("extract", DDL, rows)
        project.succeed("run", "--select", "dim_by_clock", *NAMES)
    project.load("extract", DDL, days[0] + days[1])
    project.succeed("run", "--exclude", "dim_by_clock", *NAMES)
    project.load("extract", DDL, days[2])
    project.succeed("run", *NAMES)
    return project


def test_nothing_stays_behind(project: DbtProject) -> None:
    assert project.relations() == {*MODELS, "dim_python", "extract"}


def test_ignored_columns_open_no_version_and_an_open_end_may_be_null(project: DbtProject) -> None:
    columns = "region, id, name, note, effective_from, effective_to, is_current, is_deleted"
    first, second, third = MIDNIGHTS
    assert tuples(project.sql(f"select {columns} from {{schema}}.dim_ignoring order by 1, 2, 5")) == [
        ("EU", 1, "a", "x", first, third, False, False),
        ("EU", 1, "b", "z", third, None, True, False),
        ("EU", 2, None, "x", first, second, False, False),
        ("EU", 2, "", "y", second, None, True, False),
        ("US", 1, "c", "x", first, third, True, True),
    ]


def test_python_gives_the_same_rows_as_sql(project: DbtProject) -> None:
    columns = "region, id, name, note, hash_diff, effective_from, is_current, is_deleted"
    rows = [
        tuples(project.sql(f"select {columns} from {{schema}}.{name} order by 1, 2, 6"))
        for name in ("dim_ignoring", "dim_python")
    ]
    assert rows[0] == rows[1]


def test_stored_hashes_have_the_documented_format(project: DbtProject) -> None:
    rows = project.sql("select * from {schema}.dim_ignoring")
    assert len(rows) == 5
    for row in rows:
        assert row.the_ignoring_key == hash_of([row.region, row.id])
        assert row.hash_diff == hash_of([row.name])
        assert row.sk == hash_of([row.the_ignoring_key, row.effective_from.replace(tzinfo=UTC)])


def test_a_table_is_stored_as_the_model_says(project: DbtProject) -> None:
    detail = project.sql("describe detail {schema}.dim_gapped")[0]
    assert detail.partitionColumns == ["is_current"]
    assert detail["properties"]["delta.checkpointInterval"] == "20"
    assert project.sql("describe detail {schema}.dim_ignoring")[0].partitionColumns == []


GROWING = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at', scd2_columns={'surrogate_key': 'sk'}<more>
) }}
select id, cast(uuid() as string) as name, timestamp '2024-01-01' + make_dt_interval({{ var('day') }}) as at
from range({{ var('keys') }})
"""


def test_a_dimension_has_deletion_vectors_once_it_is_large(make_project) -> None:
    """Few rows are quicker to rewrite than to mark; only loads of plain extracts see that a dimension has grown."""
    models = {
        "dim_growing": "",
        "dim_own": ", tblproperties={'delta.enableDeletionVectors': 'false'}",
        "dim_invalidating": ", hard_deletes='invalidate'",
    }
    project = make_project({f"models/{name}.sql": GROWING.replace("<more>", more) for name, more in models.items()})
    found = []
    # Small are 64,000 bytes, and at first 250 rows.
    size = "scd2_read_twice_from: 1000"
    for day, keys in enumerate([10, 1000, 1001]):
        # One that stays as it was made needs no second load.
        once = ["--exclude", "dim_invalidating"] if day else []
        project.succeed("run", *once, "--vars", f"{{day: {day}, keys: {keys}, {size}}}")
        details = [project.sql(f"describe detail {{schema}}.{name}")[0] for name in models]
        found.append([detail["properties"]["delta.enableDeletionVectors"] for detail in details])
    assert found == [["false", "false", "true"], ["false", "false", "true"], ["true", "false", "true"]]
    live = project.sql("select count(*) as n from {schema}.dim_growing where is_current and not is_deleted")[0]
    assert live.n == 1001

    project.write({"models/dim_large.sql": GROWING.replace("<more>", "")})
    project.succeed("run", "--select", "dim_large", "--vars", f"{{day: 0, keys: 300, {size}}}")
    large = project.sql("describe detail {schema}.dim_large")[0]
    assert large["properties"]["delta.enableDeletionVectors"] == "true"


# Names that Spark takes for secrets, and words that the queries of a load could use themselves.
AWKWARD = ["hourly_rate", "access_token", "Password", "deleted_at", "business_key", "state", "moment", "problem"]
KINDS = {
    "snapshot": "overwrite_columns='is_new'",
    "three_clause": "merge_plan='three_clause', flag_values=['The URL', 'a Secret']",
    "changelog": "source_kind='changelog', overwrite_columns='is_new'",
}


def test_columns_may_have_the_names_of_secrets_and_of_what_is_counted(make_project) -> None:
    files = {}
    for kind, options in KINDS.items():
        config = f"materialized='scd2', unique_key=['url', 'key_hash'], effective_at='extract', {options}"
        columns = "*" if kind == "changelog" else "* except (_change_type)"
        files[f"models/dim_{kind}.sql"] = (
            f"{{{{ config({config}) }}}} select {columns} from {{{{ target.schema }}}}.awkward"
        )
    entries = ", ".join(f"{{name: dim_{kind}, data_tests: {INVARIANTS}}}" for kind in KINDS)
    project = make_project({**files, "models/schema.yml": f"models: [{entries}]"})
    ddl = ", ".join(f"{name} string" for name in ["url", "key_hash", "is_new", *AWKWARD, "_change_type"])
    for number, day in enumerate(DAYS[:2]):
        rows = [(f"key {key}", "a", "b", *[f"{number * key}"] * len(AWKWARD), "U", day) for key in range(3)]
        project.load("awkward", f"{ddl}, extract date", rows)
        results = project.succeed("build" if number else "run")
        said = "MERGE 2 opened, 2 closed, 0 deleted" if number else "CREATE 3 opened, 0 closed, 0 deleted"
        assert all(results[f"dim_{kind}"].message.startswith(said) for kind in KINDS)
    for kind in KINDS:
        is_current = "string(is_current) in ('true', 'The URL')"
        current = f"select url, hourly_rate, deleted_at from {{schema}}.dim_{kind} where {is_current} order by 1"
        assert tuples(project.sql(current)) == [("key 0", "0", "0"), ("key 1", "1", "1"), ("key 2", "2", "2")]

    project.sql("alter table {schema}.dim_snapshot set tblproperties ('scd2.columns' = '[\"url\"]')")
    assert "Spark hides the property `scd2.columns` of" in project.fail("run", "--select", "dim_snapshot")


def test_a_struct_may_have_many_fields_and_the_name_of_what_is_read(make_project) -> None:
    fields = ", ".join(f"'field_{number}', {number}" for number in range(40))
    model = "{{ config(materialized='scd2', unique_key='id', effective_at='at') }}\n"
    project = make_project({})
    for number, day in enumerate(DAYS[:2]):
        row = f"1 as id, named_struct({fields}, 'id', {number}) as source, date '{day}' as at"
        project.write({"models/dim_many.sql": f"{model}select {row}"})
        project.succeed("run")
    found = project.sql("select source.field_39, source.id from {schema}.dim_many order by effective_from")
    assert tuples(found) == [(39, 0), (39, 1)]


def test_a_tombstone_carries_the_last_values(project: DbtProject) -> None:
    first, _, third = MIDNIGHTS
    columns = "name, note, effective_from, year(effective_to), is_current, is_deleted"
    found = project.sql(f"select {columns} from {{schema}}.dim_tracking where region = 'US' order by 3")
    assert tuples(found) == [
        ("c", "x", first, 2024, False, False),
        ("c", "x", third, 9999, True, True),
    ]


def test_a_gap_lies_before_the_next_version_and_before_a_deletion(project: DbtProject) -> None:
    before_third = MIDNIGHTS[2] - timedelta(seconds=1)
    closed = project.sql(
        "select region, effective_to from {schema}.dim_gapped where year(effective_to) = 2024 order by 1, 2"
    )
    assert tuples(closed) == [
        ("EU", MIDNIGHTS[1] - timedelta(seconds=1)),
        ("EU", before_third),
        ("US", before_third),
    ]


def test_a_gap_of_a_day_has_24_hours_also_when_the_clocks_change(project: DbtProject, time_zone) -> None:
    options = "materialized='scd2', unique_key='id', effective_at='at', closing_gap='1 day'"
    project.write({
        "models/dim_day_gap.sql": f"{{{{ config({options}) }}}} select * from {{{{ target.schema }}}}.spring",
        "models/day_gap.yml": f"models: [{{name: dim_day_gap, data_tests: {INVARIANTS}}}]",
    })  # fmt: skip
    # In Berlin the last of these days has 23 hours.
    for day in (29, 31):
        project.load("spring", "id int, name string, at timestamp", [(1, f"on {day}", datetime(2024, 3, day, 12))])
        with time_zone("Europe/Berlin"):
            project.succeed("build", "--select", "dim_day_gap")
    gaps = project.sql("""
        select (unix_micros(lead(effective_from) over (order by effective_from)) - unix_micros(effective_to)) / 3600e6
        from {schema}.dim_day_gap""")
    assert [hours for (hours,) in tuples(gaps) if hours is not None] == [24]


def test_without_effective_at_the_run_start_counts(project: DbtProject) -> None:
    moments = project.sql("select distinct effective_from from {schema}.dim_by_clock order by 1")
    assert len(moments) == 3
    assert all(abs(datetime.now() - row.effective_from) < timedelta(hours=1) for row in moments)
    before = project.version("dim_by_clock")
    project.succeed("run", "--select", "dim_by_clock", *NAMES)
    assert project.version("dim_by_clock") == before


def test_names_of_the_whole_project(project: DbtProject) -> None:
    columns = [row.col_name for row in project.sql("describe {schema}.dim_ignoring")]
    assert columns[:2] == ["sk", "the_ignoring_key"]


def test_a_run_that_died_before_its_record_is_completed(project: DbtProject) -> None:
    dimensions = ["dim_ignoring", "dim_gapped"]
    for name in dimensions:
        project.sql(f"alter table {{schema}}.{name} set tblproperties ('scd2.extracts' = '2024-03-01 00:00:00')")
    # All extracts lie in the source again; the second and third are not in the record.
    rows = [(*row, day) for rows, day in zip(EXTRACTS, DAYS, strict=True) for row in rows]
    project.load("extract", DDL, rows)
    before = {name: project.sql(f"select * from {{schema}}.{name} order by 1, 2, 3") for name in dimensions}
    results = project.succeed("run", "--select", *dimensions, *NAMES)
    for name in dimensions:
        assert results[name].message == "UNCHANGED"
        assert project.sql(f"select * from {{schema}}.{name} order by 1, 2, 3") == before[name]
        recorded = project.properties(name)["scd2.extracts"]
        assert recorded == "2024-03-01 00:00:00,2024-03-02 00:00:00,2024-03-03 00:00:00"


def test_what_decides_the_stored_rows_must_not_change(project: DbtProject) -> None:
    before = project.version("dim_tracking")
    changed = MODELS["dim_tracking"].replace("track_columns=['name']", "track_columns=['name', 'note']")
    changed = changed.replace("hard_deletes='new_record'", "surrogate_key='sequence', flag_values=['Y', 'N']")
    project.write({"models/dim_tracking.sql": changed + QUERY})
    message = project.fail(
        "run", "--select", "dim_tracking", "--vars", "{scd2_columns: {durable_key: 'the_{entity}_key'}}"
    )
    project.write({"models/dim_tracking.sql": MODELS["dim_tracking"] + QUERY})
    assert "4 mistake(s)" in message
    for part in [
        "`track_columns` was",
        "`surrogate_key` was `hash`",
        "`flag_values` was",
        "`hard_deletes` was `new_record`",
    ]:
        assert part in message
    assert project.version("dim_tracking") == before

    before = project.version("dim_gapped")
    changed = MODELS["dim_gapped"].replace("['region', 'id']", "['id', 'region']")
    changed = changed.replace("closing_gap='1 second'", "closing_gap='2 seconds', open_end=none")
    project.write({"models/dim_gapped.sql": changed + QUERY})
    message = project.fail("run", "--select", "dim_gapped", *NAMES)
    project.write({"models/dim_gapped.sql": MODELS["dim_gapped"] + QUERY})
    assert "3 mistake(s)" in message
    for part in ["`unique_key` was", "`closing_gap` was `1 second`", "`open_end` was `9999-12-31`"]:
        assert part in message
    assert project.version("dim_gapped") == before


def test_a_partial_run_changes_no_dimension(project: DbtProject) -> None:
    before = project.version("dim_python")
    for option in (["--empty"], ["--sample", "3 days"], ["--empty", "--full-refresh"]):
        variables = ["--vars", "{scd2_discard_history: true}"]
        results = project.succeed("run", "--select", "dim_python", *option, *variables)
        assert results["dim_python"].message.startswith("SKIP")
    assert project.version("dim_python") == before


def test_a_dimension_made_of_a_sample_gives_way_to_a_whole_run(make_project) -> None:
    project = make_project({"models/dim_sampled.sql": SAMPLED})
    project.load("sampled", "id int, value string, at timestamp", [(1, "a", datetime(2024, 1, 2))])
    project.succeed("run", "--sample", "3 days")
    assert project.sql("select id from {schema}.dim_sampled") == [(1,)]
    assert project.succeed("run", "--sample", "3 days")["dim_sampled"].message.startswith("SKIP")

    whole = [(1, "a", datetime(2024, 1, 1)), (2, "a", datetime(2024, 1, 1)), (1, "b", datetime(2024, 1, 2))]
    project.load("sampled", "id int, value string, at timestamp", whole)
    project.succeed("run")
    found = project.sql("select id, value, is_deleted from {schema}.dim_sampled order by id, effective_from")
    assert found == [(1, "a", False), (1, "b", False), (2, "a", True)]
    assert project.succeed("run")["dim_sampled"].message == "UNCHANGED"


def test_a_table_that_empty_made_takes_other_options(make_project) -> None:
    dimension = """
    {{ config(
        materialized='scd2', unique_key='id', hard_deletes='invalidate',
        surrogate_key='hash' if var('second', false) else 'sequence'
    ) }}
    select id, {{ "'text'" if var('second', false) else 5 }} as value from {{ ref('base') }}
    """
    copy = """
    {{ config(materialized='scd1', unique_key='id') }}
    select id, {{ "'text'" if var('second', false) else 5 }} as value, 'U' as _change_type from {{ ref('base') }}
    """
    log = "{{ config(materialized='scd1', unique_key='id') }} select * from {{ target.schema }}.log"
    unknown = dimension.replace("hard_deletes='invalidate'", "unknown_member=true")
    models = {
        "dim_later": dimension,
        "dim_unknown": unknown,
        "copy_later": copy,
        "base": "select 1 as id",
        "copy_deleted": log,
    }
    project = make_project({f"models/{name}.sql": text for name, text in models.items()})
    ddl = "id int, _change_type string, _change_ordinal int"
    # Read by its name: `--empty` leaves out no row, and the copy remembers the deletion.
    project.load("log", ddl, [(1, "D", 5)])
    project.succeed("run", "--empty")
    project.load("log", ddl, [(1, "I", 3)])
    assert project.succeed("run", "--empty")["dim_later"].message.startswith("SKIP")
    # Rows that were written by hand are not thrown away.
    project.sql("insert into {schema}.copy_later values (2, 7)")
    message = project.fail("run", "--vars", "second: true")
    assert "copy_later" in message
    assert "dim_later" not in message
    assert project.sql("select * from {schema}.copy_deleted") == []
    assert tuples(project.sql("select * from {schema}.copy_later")) == [(2, 7)]
    assert tuples(project.sql("select id, value from {schema}.dim_later")) == [(1, "text")]
    in_order = "select id, value from {schema}.dim_unknown order by id"
    assert tuples(project.sql(in_order)) == [(None, None), (1, "text")]
    project.sql("delete from {schema}.copy_later")
    results = project.succeed("run", "--vars", "second: true")
    assert tuples(project.sql("select * from {schema}.copy_later")) == [(1, "text")]
    assert results["dim_later"].message == "UNCHANGED"
