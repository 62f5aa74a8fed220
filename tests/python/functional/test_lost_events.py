"""A dimension that lost the table of its events says so, and takes that table along where it is cloned."""

from __future__ import annotations

import shutil

import pytest

from harness import STAGES, DbtProject, at, tuples

MODEL = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='at',
    scd2_columns={'surrogate_key': 'sk'}
) }}
select * from {{ var('schema', target.schema) }}.batch
"""
# None of these types is wider than itself.
TYPED = MODEL.replace(
    "select *",
    """select
    *,
    cast(id as decimal(10, 2)) as price,
    cast(id as decimal(38, 18)) as precise,
    cast(id as tinyint) as tiny,
    cast(id as smallint) as small,
    cast(id as bigint) as large,
    cast(id as float) as approximate,
    cast(id as double) as exact,
    cast(id as boolean) as flag,
    cast(value as varchar(20)) as short,
    cast(value as binary) as bytes,
    date '2024-01-01' as day,
    timestamp '2024-01-01' as seen,
    timestamp_ntz '2024-01-01' as local,
    array(cast(id as decimal(4, 1))) as parts,
    map('k', id) as tags,
    named_struct('x', id, 'y', cast(id as decimal(4, 1))) as pair""",
)
# A load makes the table of their events anew: their model changes with the second load.
CHANGED = {
    "dim_swapped_grown": MODEL.replace("select *", "select *{{ ', 1 as grown' if var('changed', false) }}"),
    "dim_swapped_reordered": "{{ config(sequence_by='seq') if var('changed', false) }}\n"
    "{{ config(ignore_columns='seq') if not var('changed', false) }}\n"
    + MODEL.replace("select *", "select *, 1 as seq"),
    "dim_lost_grown": MODEL.replace("select *", "select *{{ ', 1 as grown' if var('changed', false) }}"),
}
NAMES = [
    *CHANGED,
    "dim_whole",
    "dim_typed",
    "dim_lost",
    "dim_swapped",
    "dim_renamed",
    "dim_unmarked",
]
TAKEN = "{{ config(materialized='table') }}\nselect 1 as id"
DDL = "id int, value string, _change_type string, at timestamp"
# Neither the second row of 1 nor the deletion of 2 changes a version when it comes; both matter to what comes late.
FIRST = [(1, "a", "U", 10), (1, "a", "U", 20), (2, None, "D", 20)]
LATE = [(1, "b", "U", 15), (2, "late", "U", 5)]
WHOLE = [(1, "a", 10, 15), (1, "b", 15, 20), (1, "a", 20, None), (2, "late", 5, 20)]
FORGETFUL = [(1, "a", 10, 15), (1, "b", 15, None), (2, "late", 5, None)]


def give(project: DbtProject, rows: list[tuple]) -> None:
    project.load("batch", DDL, [(*row[:-1], at(row[-1])) for row in rows])


def history(project: DbtProject, name: str) -> list[tuple]:
    rows = project.sql(
        "select id, value, effective_from, nullif(effective_to, timestamp '9999-12-31')"
        f" from {{schema}}.{name} order by 1, 3"
    )
    return [
        (key, value, (begin - at(0)).seconds, None if end is None else (end - at(0)).seconds)
        for key, value, begin, end in rows
    ]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    models = {f"models/{name}.sql": MODEL for name in (*NAMES, "dim_empty", "dim_taken")}
    models["models/dim_typed.sql"] = TYPED
    # It makes no table.
    models["models/dim_whole__events.sql"] = "{{ config(materialized='ephemeral') }} select 1 as id"
    models.update({f"models/{name}.sql": text for name, text in CHANGED.items()})
    return make_project({**models, "models/dim_taken__events.sql": TAKEN})


@pytest.fixture(scope="module")
def clone(project: DbtProject) -> DbtProject:
    """The first load of `dim_whole`, cloned into a schema of its own, before the late events come."""
    give(project, FIRST)
    project.succeed("run", "--select", *NAMES)
    project.succeed("run", "--write-json", "--empty", "--select", "dim_empty")
    state = project.directory / "state"
    state.mkdir()
    shutil.copy(project.directory / "target" / "manifest.json", state)
    clone = DbtProject(project.directory, f"{project.schema}_clone")
    clone.sql("create schema {schema}")
    # Of a dimension that was dropped.
    marked = "using delta tblproperties ('scd2.events_id' = 'gone')"
    clone.sql(f"create table {{schema}}.dim_whole__events {marked} as select 7 as id")
    clone.succeed("clone", "--state", str(state), "--select", "dim_whole")
    return clone


def test_events_that_are_gone_or_of_another_history_are_refused(project: DbtProject, clone: DbtProject) -> None:
    unset = "alter table {schema}.%s unset tblproperties ('scd2.events_id')"
    for name in ("dim_lost", "dim_unmarked", "dim_lost_grown"):
        project.sql(f"drop table {{schema}}.{name}__events")
    swapped = [name for name in NAMES if name.startswith("dim_swapped")]
    for name in swapped:
        project.sql(f"alter table {{schema}}.{name}__events set tblproperties ('scd2.events_id' = 'another')")
    project.sql("alter table {schema}.dim_renamed__events rename to {schema}.dim_formerly__events")
    # As a dimension is that was made before there was a mark.
    project.sql((unset % "dim_unmarked").replace("')", "', 'scd2.columns')"))

    give(project, LATE)
    refused = ["dim_lost", "dim_renamed", *swapped]
    before = {name: project.version(name) for name in refused}
    events = {name: project.version(f"{name}__events") for name in swapped}
    results = project.dbt("run", "--exclude", "dim_taken__events", "--vars", "{changed: true}").result.results
    messages = {result.node.name: str(result.message) for result in results if result.status == "error"}
    assert messages.keys() == {*refused, "dim_taken"}
    for name in refused:
        problem = "holds the events of another dimension than" if name in swapped else "__events, is gone"
        assert problem in messages[name]
        assert "Nothing was written" in messages[name]
        assert (unset % name).replace("{schema}", project.schema) in messages[name]
    assert "the model `dim_taken__events` makes" in messages["dim_taken"]
    assert project.sql("show tables in {schema} like 'dim_taken'") == []
    assert {name: project.version(name) for name in refused} == before
    assert {name: project.version(f"{name}__events") for name in swapped} == events
    for name in ("dim_whole", "dim_typed"):
        assert history(project, name) == WHOLE
    for name in ("dim_unmarked", "dim_lost_grown"):
        assert history(project, name) == FORGETFUL
    # `--empty` leaves out no row of a table that a model reads by its name.
    assert history(project, "dim_empty") == WHOLE

    # The way back, and the way on.
    project.sql("alter table {schema}.dim_formerly__events rename to {schema}.dim_renamed__events")
    project.sql(unset % "dim_lost")
    project.succeed("run", "--select", "dim_renamed", "dim_lost")
    assert history(project, "dim_renamed") == WHOLE
    assert history(project, "dim_lost") == FORGETFUL


def test_events_that_other_columns_ordered_are_not_ordered_anew(make_project) -> None:
    ordered = "{{ config(materialized='scd2', source_kind='changelog', unique_key='id', effective_at='at', <more>) }}"
    query = f"{ordered} select * from {{{{ target.schema }}}}.batch"
    project = make_project({"models/dim_ordered.sql": query.replace("<more>", "sequence_by='seq'")})
    ddl = "id int, value string, _change_type string, seq int, at timestamp"
    rows = [(1, "a", "U", 1, at(1)), (1, "b", "U", 2, at(5)), (1, "b", "D", 3, at(5))]
    project.load("batch", ddl, rows)
    project.succeed("run")
    assert history(project, "dim_ordered") == [(1, "a", 1, 5)]
    project.write({"models/dim_ordered.sql": query.replace("<more>", "ignore_columns='seq'")})
    # A run without rows does not make their table anew, and the next one still has to.
    for batch in ([], [(1, "x", "U", 9, at(3))]):
        project.load("batch", ddl, batch)
        project.succeed("run")
    assert history(project, "dim_ordered") == [(1, "a", 1, 3), (1, "x", 3, 5)]


# And how the properties begin that a run records: before, it notes new columns.
DIED = {"dim_died_grown": "\n    'scd2.columns'", "dim_died_reordered": ""}


def test_events_of_a_run_that_died_before_it_recorded_other_columns_are_kept(make_project, before_statement) -> None:
    grown, reordered = CHANGED["dim_swapped_grown"], CHANGED["dim_swapped_reordered"]
    project = make_project({f"models/{name}.sql": model for name, model in zip(DIED, [grown, reordered], strict=True)})
    give(project, [(1, "a", "U", 10)])
    project.succeed("run")
    give(project, [(1, "a", "U", 20)])
    for name in DIED:
        before_statement(f"alter table {project.schema}.{name} set tblproperties ({DIED[name]}", "this run dies")
        assert "this run dies" in project.fail("run", "--select", name, "--vars", "{changed: true}")
    give(project, [(1, "b", "U", 15)])
    project.succeed("run", "--vars", "{changed: true}")
    for name in DIED:
        assert history(project, name) == [(1, "a", 10, 15), (1, "b", 15, 20), (1, "a", 20, None)], name


def test_events_are_forgotten_with_the_placeholders_in_them(make_project) -> None:
    option = "{{ config(unavailable_columns='value') if var('changed', false) }}\n"
    project = make_project({"models/dim_placeholder.sql": option + MODEL})
    # The second event changes nothing while the option tells that it has no value.
    for changed, row in (
        ("false", (1, "a", "U", 10)),
        ("true", (1, "__debezium_unavailable_value", "U", 20)),
        ("false", (1, "b", "U", 15)),
    ):
        give(project, [row])
        project.succeed("run", "--vars", f"{{changed: {changed}}}")
    assert history(project, "dim_placeholder") == [(1, "a", 10, 15), (1, "b", 15, None)]


def test_events_that_another_run_makes_anew_are_not_replaced(make_project, before_statement) -> None:
    project = make_project({"models/dim_raced.sql": CHANGED["dim_swapped_grown"]})
    give(project, [(1, "a", "U", 10)])
    project.succeed("run")
    events = f"{project.schema}.dim_raced__events"
    before_statement(
        STAGES.format(schema=project.schema, model="dim_raced", step="changes"),
        f"alter table {events} set tblproperties ('scd2.made_for' = 'of another run')",
    )
    give(project, [(1, "b", "U", 20)])
    version = project.version("dim_raced__events")
    message = project.fail("run", "--vars", "{changed: true}")
    assert f"{events} changed while this run was reading it.\n  Nothing was written." in message
    assert project.version("dim_raced__events") == version + 1
    project.succeed("run", "--vars", "{changed: true}")
    assert history(project, "dim_raced") == [(1, "a", 10, 20), (1, "b", 20, None)]


def test_a_clone_goes_on_as_its_original(project: DbtProject, clone: DbtProject) -> None:
    give(project, LATE)
    clone.succeed("run", "--select", "dim_whole", "--vars", f"{{schema: {project.schema}}}")
    assert history(clone, "dim_whole") == WHOLE
    events = "select id, value, effective_from, _scd2_is_gone from {schema}.dim_whole__events order by all"
    assert len(tuples(clone.sql(events))) == len(FIRST) + len(LATE)
