"""Members that no source row stands behind: the unknown one, and inferred rows for keys that facts name first."""

from __future__ import annotations

from datetime import datetime
from itertools import permutations

import pytest

from delta_scd2 import hash_key
from harness import DbtProject, session, tuples, with_open_ends

DDL = "id int, code string, city string, is_inferred boolean, at timestamp"
T = [datetime(2024, 1, n) for n in range(1, 6)]
START = datetime(1900, 1, 1)
MODEL = """
{{ config(
    materialized='scd2', unique_key=['id', 'code'], effective_at='at', unknown_member=true,
    inferred_member='is_inferred', scd2_columns={'surrogate_key': 'sk', 'durable_key': 'hk'}, <options>
) }}
select * from {{ target.schema }}.members
"""
OPTIONS = {
    "dim_hash": "max_delete_fraction=0.5",
    "dim_sequence": "surrogate_key='sequence', hard_deletes='new_record'",
    "dim_increment": "source_kind='increment', surrogate_key='sequence'",
}
PYTHON_MODEL = """
def model(dbt, session):
    dbt.config(
        materialized="scd2", unique_key=["id", "code"], effective_at="at", unknown_member=True,
        inferred_member="is_inferred", hard_deletes="invalidate",
        scd2_columns={"surrogate_key": "sk", "durable_key": "hk"},
    )
    return dbt.source("silver", "members")
"""
NAMES = [*OPTIONS, "dim_python"]
COLUMNS = "id, city, is_inferred, effective_from, effective_to, is_current, is_deleted"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    yaml = 'version: 2\nsources: [{name: silver, schema: "{{ target.schema }}", tables: [{name: members}]}]\n'
    files = {f"models/{name}.sql": MODEL.replace("<options>", options) for name, options in OPTIONS.items()}
    return make_project({**files, "models/dim_python.py": PYTHON_MODEL, "models/schema.yml": yaml})


def history(project: DbtProject, name: str, columns: str = COLUMNS, where: str = "id is not null") -> list[tuple]:
    return with_open_ends(project.history(name, columns, where))


def test_members_without_a_row(project: DbtProject) -> None:
    # Key 2 and 3 stand in facts alone; two facts name key 3.
    project.load(
        "members",
        DDL,
        [
            (1, "x", "Bern", False, T[0]),
            (2, "x", None, True, T[0]),
            (3, "x", None, True, T[0]),
            (3, "x", None, True, None),
            (1, "x", None, True, None),
        ],
    )
    project.succeed("run")
    inferred = [(2, None, True, START, None, True, False), (3, None, True, START, None, True, False)]
    for name in NAMES:
        assert history(project, name) == [(1, "Bern", False, T[0], None, True, False), *inferred]
    keys = {name: dict(history(project, name, "id, sk")) for name in NAMES}

    # The row of key 2 completes its inferred row; key 3 is still missing, and is not deleted for that.
    project.load(
        "members", DDL, [(1, "x", "Bern", False, T[1]), (2, "x", "Chur", False, T[1]), (4, "x", None, True, None)]
    )
    messages = {name: result.message for name, result in project.succeed("run").items()}
    assert messages["dim_hash"] == "MERGE 1 opened, 0 closed, 0 deleted, 1 altered"
    for name in NAMES:
        assert history(project, name)[1:] == [
            (2, "Chur", False, START, None, True, False),
            inferred[1],
            (4, None, True, START, None, True, False),
        ]
        assert keys[name].items() <= dict(history(project, name, "id, sk")).items()

    project.load(
        "members", DDL, [(1, "x", "Bern", False, T[2]), (2, "x", "Genf", False, T[2]), (3, "x", "Sion", False, T[2])]
    )
    project.succeed("run")
    for name in NAMES:
        assert history(project, name)[1:4] == [
            (2, "Chur", False, START, T[2], False, False),
            (2, "Genf", False, T[2], None, True, False),
            (3, "Sion", False, START, None, True, False),
        ]


def test_a_deleted_key_gets_no_inferred_row(project: DbtProject) -> None:
    project.load(
        "members", DDL, [(1, "x", "Bern", False, T[3]), (2, "x", "Genf", False, T[3]), (3, "x", None, True, None)]
    )
    project.succeed("run")
    others = [
        (1, "Bern", False, T[0], None, True, False),
        (2, "Chur", False, START, T[2], False, False),
        (2, "Genf", False, T[2], None, True, False),
    ]
    deleted = {
        "dim_hash": [(3, "Sion", False, START, T[3], True, True)],
        "dim_sequence": [(3, "Sion", False, START, T[3], False, False), (3, "Sion", False, T[3], None, True, True)],
        "dim_increment": [(3, "Sion", False, START, None, True, False)],
        "dim_python": [(3, "Sion", False, START, T[3], False, True)],
    }
    for name in NAMES:
        assert history(project, name) == [*others, *deleted[name], (4, None, True, START, None, True, False)], name
        keys = project.sql(f"select count(distinct sk), count(*) from {{schema}}.{name}")[0]
        assert keys[0] == keys[1], name
    versions = {name: project.version(name) for name in NAMES}
    project.succeed("run")
    assert {name: project.version(name) for name in NAMES} == versions


def test_inferred_rows_survive_a_rebuild_and_the_repeat_of_a_run_that_died(make_project) -> None:
    project = make_project({"models/dim_hash.sql": MODEL.replace("<options>", "max_delete_fraction=1")})
    first = [(1, "x", "Bern", False, T[0]), (2, "x", None, True, None), (3, "x", None, True, None)]
    then = [
        (1, "x", "Bern", False, T[1]),
        (1, "x", "Chur", False, T[2]), (2, "x", "Sion", False, T[2]),
        (1, "x", "Chur", False, T[3]), (2, "x", "Visp", False, T[3]),
    ]  # fmt: skip
    for rows in (first, then):
        project.load("members", DDL, rows)
        project.succeed("run")
    expected = [
        (1, "Bern", False, T[0], T[2], False, False),
        (1, "Chur", False, T[2], None, True, False),
        (2, "Sion", False, START, T[3], False, False),
        (2, "Visp", False, T[3], None, True, False),
        (3, None, True, START, None, True, False),
    ]
    assert history(project, "dim_hash") == expected
    # As it is where a run dies between its MERGE and its record.
    project.sql(f"alter table {{schema}}.dim_hash set tblproperties ('scd2.extracts' = '{T[0]}')")
    project.succeed("run")
    assert history(project, "dim_hash") == expected
    # A rebuild of everything expects only keys that had a row; the first extract left does not have key 2, and the
    # last one neither.
    project.load("members", DDL, then[:-1])
    project.succeed("run", "--vars", "{scd2_rebuild_from: '1900-01-01'}")
    assert history(project, "dim_hash") == [
        (1, "Bern", False, T[1], T[2], False, False),
        (1, "Chur", False, T[2], None, True, False),
        (2, "Sion", False, START, T[1], False, True),
        (2, "Sion", False, T[2], T[3], True, True),
        (3, None, True, START, None, True, False),
    ]


def test_an_extract_may_be_of_the_time_from_which_inferred_rows_are_valid(make_project) -> None:
    project = make_project({"models/dim_hash.sql": MODEL.replace("<options>", "")})
    eight, nine = [(key, "x", None, True, None) for key in (8, 9)]
    for times, inferred in ((T[:1], [eight]), (T[1:2], [eight]), (T[2:3], [eight, nine])):
        rows = [(1, "x", "Bern", False, at) for at in [START, *times]]
        project.load("members", DDL, [*rows, *inferred])
        project.succeed("run")
    assert history(project, "dim_hash", "id, is_inferred, effective_from, is_current, is_deleted") == [
        (1, False, START, True, False),
        (8, True, START, True, False),
        (9, True, START, True, False),
    ]


CHANGELOG_MODEL = """
{{ config(
    materialized='scd2', unique_key='id', source_kind='changelog', effective_at='at', sequence_by='number',
    inferred_member='is_inferred', <options>
) }}
select * from {{ target.schema }}.member_events
"""


@pytest.mark.parametrize(
    "options", ["", pytest.param("hard_deletes='new_record', surrogate_key='sequence'", marks=pytest.mark.slow)]
)
def test_the_order_in_which_events_follow_an_inferred_row_does_not_matter(make_project, options: str) -> None:
    project = make_project({"models/dim_member.sql": CHANGELOG_MODEL.replace("<options>", options)})
    # The last two are of one time, of which the higher number counts.
    events = [("Bern", T[1], 1, "I"), (None, T[2], 1, "D"), ("Chur", T[3], 1, "I"), ("Sion", T[3], 2, "U")]
    orders = list(permutations(events))
    ddl = "id int, city string, is_inferred boolean, at timestamp, number int, _change_type string"
    inferred = [(id_, None, True, None, None, None) for id_ in range(len(orders))]
    for turn in range(-1, len(events)):
        # Facts name their keys in every run.
        given = [] if turn < 0 else [order[turn] for order in orders]
        rows = [(id_, city, False, at, number, kind) for id_, (city, at, number, kind) in enumerate(given)]
        project.load("member_events", ddl, rows + inferred)
        project.succeed("run")
    found = history(project, "dim_member")
    gone = [("Bern", False, START, T[2], False, True)]
    if options:
        gone = [("Bern", False, START, T[2], False, False), ("Bern", False, T[2], T[3], False, True)]
    expected = [*gone, ("Sion", False, T[3], None, True, False)]
    histories = {id_: [row[1:] for row in found if row[0] == id_] for id_ in range(len(orders))}
    assert histories == dict.fromkeys(histories, expected)


def test_a_deletion_keeps_its_place_among_events_that_complete_an_inferred_row(make_project) -> None:
    model = CHANGELOG_MODEL.replace("<options>", "hard_deletes='new_record'")
    project = make_project({"models/dim_member.sql": model})
    # The event that completes the inferred row has a higher number than the deletion, and an earlier time.
    events = [(None, T[3], 10, "D"), ("Bern", T[2], 30, "I"), ("Chur", T[3], 20, "U")]
    orders = list(permutations(events))
    ddl = "id int, city string, is_inferred boolean, at timestamp, number int, _change_type string"
    project.load("member_events", ddl, [(id_, None, True, None, 0, "I") for id_ in range(len(orders))])
    project.succeed("run")
    for turn in range(len(events)):
        given = [order[turn] for order in orders]
        rows = [(id_, city, False, at, number, kind) for id_, (city, at, number, kind) in enumerate(given)]
        project.load("member_events", ddl, rows)
        project.succeed("run")
    columns = "city, effective_from, effective_to, is_current, is_deleted"
    for id_ in range(len(orders)):
        assert history(project, "dim_member", columns, f"id = {id_}") == [
            ("Bern", START, T[3], False, False),
            ("Chur", T[3], None, True, False),
        ], orders[id_]


def test_the_unknown_member(project: DbtProject) -> None:
    frame = session().createDataFrame([(None, None)], "id int, code string")
    nothing = frame.select(hash_key(frame, ["id", "code"])).collect()[0][0]
    unknown = (None, None, None, START, None, True, False)
    for name in NAMES:
        key = nothing if name in ("dim_hash", "dim_python") else -1
        found = history(project, name, "sk, hk, " + COLUMNS, "id is null")
        assert found == [(key, nothing, *unknown)]
    assert project.sql("select min(sk), max(sk), count(*) from {schema}.dim_increment where sk > 0")[0] == (1, 5, 5)


def test_extracts_may_be_older_than_the_unknown_member(make_project) -> None:
    options = "materialized='scd2', unique_key='id', effective_at='at', unknown_member=true"
    project = make_project(
        {"models/dim_old.sql": f"{{{{ config({options}) }}}} select * from {{{{ target.schema }}}}.old"}
    )
    times = [datetime(year, 5, 1) for year in (1850, 1860)]
    for city, ts in zip(("Bern", "Chur"), times, strict=True):
        project.load("old", "id int, city string, at timestamp", [(1, city, ts)])
        project.succeed("run")
    rows = project.sql("select city, effective_from from {schema}.dim_old where id = 1 order by effective_from")
    assert tuples(rows) == list(zip(("Bern", "Chur"), times, strict=True))


def test_an_unknown_member_is_added_to_a_history(project: DbtProject) -> None:
    model = """
        {{{{ config(materialized='scd2', unique_key='id', effective_at='at'{}) }}}}
        select id, city, at from {{{{ target.schema }}}}.members where not is_inferred
    """
    # As `false` is written in some YAML.
    project.write({"models/dim_later.sql": model.format(", unknown_member=0")})
    project.succeed("run", "--select", "dim_later")
    project.write({"models/dim_later.sql": model.format(", unknown_member=true, merge_plan='three_clause'")})
    assert project.succeed("run", "--select", "dim_later")["dim_later"].message == "MERGE 1 opened, 0 closed, 0 deleted"
    project.load("members", DDL, [(1, "x", "Thun", False, T[4]), (2, "x", "Genf", False, T[4])])
    result = project.succeed("run", "--select", "dim_later")["dim_later"]
    assert result.message == "MERGE 1 opened, 1 closed, 0 deleted, by three clauses"
    assert tuples(
        project.sql("select id, city, is_current, is_deleted from {schema}.dim_later order by id, effective_from")
    ) == [
        (None, None, True, False),
        (1, "Bern", False, False),
        (1, "Thun", True, False),
        (2, "Genf", True, False),
    ]
    project.write({"models/dim_later.sql": model.format("")})
    assert "`unknown_member` was `true`" in project.fail("run", "--select", "dim_later")
    (project.directory / "models/dim_later.sql").unlink()


def test_the_order_of_inferred_rows_does_not_matter(make_project) -> None:
    model = MODEL.replace("<options>", "source_kind='<kind>'") + "order by city <order>"
    files = {
        f"models/dim_{kind}_{order}.sql": model.replace("<kind>", kind).replace("<order>", order)
        for kind in ("snapshot", "increment")
        for order in ("asc", "desc")
    }
    project = make_project(files)
    rows = [(key, "x", city, True, None) for key in range(30) for city in ("Bern", "Chur", None)]
    project.load("members", DDL, [(99, "x", "Sion", False, T[0]), *rows])
    project.succeed("run")
    for kind in ("snapshot", "increment"):
        found = history(project, f"dim_{kind}_asc", "id, city", "is_inferred")
        assert len(found) == 30
        assert found == history(project, f"dim_{kind}_desc", "id, city", "is_inferred")


def test_a_row_is_not_older_than_an_inferred_row(make_project) -> None:
    options = "materialized='scd2', source_kind='increment', unique_key='id', effective_at='at'"
    project = make_project({
        "models/dim_member.sql": f"{{{{ config({options}, inferred_member='is_inferred') }}}}"
        " select 1 as id, false as is_inferred, timestamp '1753-01-01' as at",
    })  # fmt: skip
    message = project.fail("run")
    assert "rows have a time in `at` that is not in the years 1900 to 9999 UTC: id 1" in message
    assert "or 1900-01-01, from which inferred rows are valid" in message
