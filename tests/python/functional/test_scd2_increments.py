"""Increments: only some rows, several versions of a key, late ones, updates in two parts."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from harness import DbtProject, with_open_ends

DDL = "region string, id int, name string, op string, seq int, at timestamp"
T = [datetime(2024, 3, n) for n in range(1, 10)]
CONFIG = (
    "materialized='scd2', source_kind='increment', unique_key=['region', 'id'], effective_at='at', change_type='op', "
    "track_columns='name'"
)
QUERY = " select * from {{ target.schema }}.batch"

MODELS = {
    "dim_sql": f"{{{{ config({CONFIG}) }}}}" + QUERY,
    "dim_ordered": f"{{{{ config({CONFIG}, sequence_by='seq') }}}}" + QUERY,
    "dim_customer": """
        {{ config(
            materialized='scd2', source_kind='increment', unique_key=['region', 'id'], effective_at='at',
            change_type='op', track_columns='name', hard_deletes='invalidate', closing_gap='1 millisecond',
            flag_values=[1, 0], open_end='9999-12-31 23:59:59.999', surrogate_key='sequence',
            scd2_columns={'durable_key': 'business_key'}
        ) }}
        select * from {{ target.schema }}.batch
    """,
}
SWITCHED = """
{{ config(
    materialized='scd2', source_kind=var('kind', 'snapshot'), unique_key=['region', 'id'], effective_at='at',
    track_columns='name'
) }}
select * from {{ target.schema }}.switched
"""
PYTHON_MODEL = """
def model(dbt, session):
    dbt.config(
        materialized="scd2", source_kind="increment", unique_key=["region", "id"], effective_at="at",
        track_columns="name", change_type="op",
    )
    return dbt.source("silver", "batch")
"""


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {f"models/{name}.sql": text for name, text in MODELS.items()}
    files["models/dim_py.py"] = PYTHON_MODEL
    files["models/sources.yml"] = (
        'version: 2\nsources: [{name: silver, schema: "{{ target.schema }}", tables: [{name: batch}]}]\n'
    )
    return make_project(files)


def history(project: DbtProject, name: str, columns: str = "id, name, effective_from, effective_to") -> list[tuple]:
    return with_open_ends(project.history(name, columns))


def test_increments_in_sequence(project: DbtProject) -> None:
    project.load("batch", DDL, [("EU", 1, "Raymond", "insert", 1, T[0]), ("EU", 2, "Kontext", "insert", 2, T[0])])
    project.succeed("run")

    # An update arrives as a deletion and an insert; one key has two versions in the batch; absence says nothing.
    project.load(
        "batch",
        DDL,
        [
            ("EU", 1, "Raymond", "D", 10, T[2]),
            ("EU", 1, "Ray", "I", 11, T[2]),
            ("EU", 3, "John", "I", 12, T[2]),
            ("EU", 3, "Johnny", "U", 13, T[4]),
            ("EU", 3, "Johnny", "U", 13, T[4]),
        ],
    )
    results = project.succeed("run")
    assert results["dim_sql"].message == "MERGE 3 opened, 2 closed, 0 deleted"
    expected = [
        (1, "Raymond", T[0], T[2]),
        (1, "Ray", T[2], None),
        (2, "Kontext", T[0], None),
        (3, "John", T[2], T[4]),
        (3, "Johnny", T[4], None),
    ]
    for name in ("dim_sql", "dim_py", "dim_ordered"):
        assert history(project, name) == expected
    gap = timedelta(milliseconds=1)
    assert history(project, "dim_customer", "customer_sk, id, name, is_current, effective_from, effective_to") == [
        (1, 1, "Raymond", 0, T[0], T[2] - gap),
        (3, 1, "Ray", 1, T[2], None),
        (2, 2, "Kontext", 1, T[0], None),
        (4, 3, "John", 0, T[2], T[4] - gap),
        (5, 3, "Johnny", 1, T[4], None),
    ]

    before = {name: project.version(name) for name in [*MODELS, "dim_py"]}
    project.succeed("run")
    assert {name: project.version(name) for name in [*MODELS, "dim_py"]} == before


def test_late_rows_are_spliced(project: DbtProject) -> None:
    # The second makes a later version redundant, and the fourth is what the history says already.
    project.load(
        "batch",
        DDL,
        [
            ("EU", 2, "Konrad", "U", 3, T[1]),
            ("EU", 3, "Johnny", "U", 4, T[3]),
            ("EU", 1, "Roy", "U", 5, T[0] - timedelta(days=1)),
            ("EU", 1, "Ray", "U", 6, T[3]),
            ("EU", 2, None, "D", 7, T[5]),
        ],
    )
    results = project.succeed("run", "--select", *MODELS)
    assert results["dim_sql"].message == "MERGE 3 opened, 3 closed, 1 deleted, 1 removed"
    expected = [
        (1, "Roy", T[0] - timedelta(days=1), T[0], False, False),
        (1, "Raymond", T[0], T[2], False, False),
        (1, "Ray", T[2], None, True, False),
        (2, "Kontext", T[0], T[1], False, False),
        (2, "Konrad", T[1], T[5], True, True),
        (3, "John", T[2], T[3], False, False),
        (3, "Johnny", T[3], None, True, False),
    ]
    columns = "id, name, effective_from, effective_to, is_current, is_deleted"
    for name in ("dim_sql", "dim_ordered"):
        assert history(project, name, columns) == expected
    gap = timedelta(milliseconds=1)
    columns = "id, name, effective_from, effective_to, is_current, is_deleted"
    assert history(project, "dim_customer", columns) == [
        (key, name, since, until and until - gap, int(current and not deleted), int(deleted))
        for key, name, since, until, current, deleted in expected
    ]
    # The number of the version that went is not given out again.
    keys = project.sql("select customer_sk from {schema}.dim_customer order by 1")
    assert [row.customer_sk for row in keys] == [1, 2, 3, 4, 6, 7, 8]


def test_rows_that_claim_one_time(project: DbtProject) -> None:
    names = ["dim_sql", "dim_customer"]
    before = {name: project.version(name) for name in names}
    in_one_batch = [("EU", 7, "a", "U", 1, T[6]), ("EU", 7, "b", "U", 2, T[6])]
    with_the_table = [("EU", 3, "Jack", "U", 99, T[3]), ("EU", 1, "Roy", "D", 98, T[2])]
    for batch, keys in ((in_one_batch, "region EU, id 7"), (with_the_table, "region EU, id 1; region EU, id 3")):
        project.load("batch", DDL, batch)
        result = project.dbt("run", "--select", *names)
        for r in result.result.results:
            assert f"{r.node.name}: different rows of one key have the same `at`: {keys}" in r.message
            assert "`sequence_by`" in r.message
        project.succeed("run", "--select", "dim_ordered")
    assert {name: project.version(name) for name in names} == before
    columns = "id, name, seq, effective_from, effective_to, is_deleted"
    assert history(project, "dim_ordered", columns)[1:] == [
        # A deletion at the beginning of a version, and after it by its sequence, leaves nothing of it.
        (1, "Raymond", 1, T[0], T[2], True),
        (2, "Kontext", 2, T[0], T[1], False),
        (2, "Konrad", 3, T[1], T[5], True),
        (3, "John", 12, T[2], T[3], False),
        (3, "Jack", 99, T[3], None, False),
        (7, "b", 2, T[6], None, False),
    ]


def test_what_is_wrong_with_a_batch_is_named(project: DbtProject) -> None:
    for batch, problem in (
        ([("EU", None, "a", "U", 1, T[8])], "1 row(s) with a null in the business key: region EU, id null"),
        ([("EU", 9, "a", "move", 1, T[8])], "1 row(s) whose `op` is unknown: region EU, id 9"),
        ([("EU", 9, "a", "U", 1, None)], "1 row(s) have no `at`: region EU, id 9"),
        (
            # An update that changes the key; the row that came before it does not follow it.
            [
                ("EU", 21, "a", "I", 1, T[7]),
                ("EU", 21, "a", "UPDATE_BEFORE", 2, T[8]),
                ("EU", 22, "a", "UPDATE_AFTER", 2, T[8]),
            ],
            "1 row(s) whose `op` is unknown: region EU, id 21",
        ),
    ):
        project.load("batch", DDL, batch)
        assert problem in project.fail("run", "--select", "dim_sql")
    batch = [
        ("EU", 21, "a", "I", 1, T[7]),
        ("EU", 21, "a", "UPDATE_BEFORE", 2, T[8]),
        ("EU", 21, "b", "UPDATE_AFTER", 2, T[8]),
    ]
    project.load("batch", DDL, batch)
    project.succeed("run", "--select", "dim_sql")
    assert [row for row in history(project, "dim_sql") if row[0] == 21] == [
        (21, "a", T[7], T[8]),
        (21, "b", T[8], None),
    ]
    project.load("batch", DDL, [])
    before = project.version("dim_sql")
    assert project.succeed("run", "--select", "dim_sql")["dim_sql"].message == "UNCHANGED"
    assert project.version("dim_sql") == before


def test_a_late_row_arrives_where_extracts_were_applied_before(make_project) -> None:
    project = make_project({"models/dim_switched.sql": SWITCHED})
    project.load("switched", DDL, [("EU", key, "a", None, 1, T[day]) for day in (0, 2, 4) for key in (1, 2)])
    project.succeed("run")
    project.load("switched", DDL, [("EU", 2, "late", None, 1, T[2])])
    project.succeed("run", "--vars", "{kind: increment}")
    names = [(row[0], row[1]) for row in history(project, "dim_switched", "id, name, effective_from")]
    assert names == [(1, "a"), (2, "a"), (2, "late")]


# What increments brought, and the extracts of the same time that then come, which would remove a version, give one
# another value, or take a deletion back.
CONTRADICTIONS = {
    "removed": ([(0, "a", "U"), (1, "b", "U"), (2, "c", "U")], [(0, "a"), (2, "c")]),
    "changed": ([(0, "a", "U"), (2, "b", "U")], [(2, "x")]),
    "returned": ([(0, "a", "U"), (2, "a", "D")], [(2, "a")]),
}
CONTRADICTED = """
{{ config(
    materialized='scd2', source_kind=var('kind', 'snapshot'), unique_key=['region', 'id'], effective_at='at',
    track_columns='name', change_type='op' if var('kind', '') == 'increment' else none, <options>
) }}
select * {{ 'except (op)' if var('kind', '') != 'increment' }}, false as is_inferred
from {{ target.schema }}.<source>
"""


def test_extracts_of_a_time_that_increments_made_are_late(make_project) -> None:
    options = {"": "", "_members": "inferred_member='is_inferred'"}
    models = {
        f"dim_{case}{name}": CONTRADICTED.replace("<source>", case).replace("<options>", text)
        for case in CONTRADICTIONS
        for name, text in options.items()
    }
    project = make_project({f"models/{name}.sql": text for name, text in models.items()})
    for case, (increments, _) in CONTRADICTIONS.items():
        project.load(case, DDL, [("EU", 1, value, kind, 1, T[day]) for day, value, kind in increments])
    project.succeed("run", "--vars", "{kind: increment}")
    before = {name: project.version(name) for name in models}
    for case, (_, extracts) in CONTRADICTIONS.items():
        project.load(case, DDL, [("EU", 1, value, None, 1, T[day]) for day, value in extracts])
    results = project.dbt("run").result.results
    messages = {result.node.name: str(result.message) for result in results if result.status == "error"}
    assert messages.keys() == models.keys()
    for message in messages.values():
        assert "comes too late: the dimension already has the history up to" in message
        assert "and already has a different history since then for region EU, id 1" in message
    assert {name: project.version(name) for name in models} == before


def test_a_time_outside_the_calendar_is_refused(project: DbtProject) -> None:
    project.load("batch", DDL, [("EU", 9, "a", "U", 1, T[8])])
    project.succeed("run", "--select", "dim_sql")
    before = project.version("dim_sql")
    for ts in ("timestamp '0000-12-31 23:59:59'", "timestamp '10000-01-01'"):
        project.sql(f"insert overwrite {{schema}}.batch select * except (at), {ts} from {{schema}}.batch")
        message = project.fail("run", "--select", "dim_sql")
        assert "rows have a time in `at` that is not in the years 1 to 9999 UTC: region EU, id 9" in message
    project.sql("insert overwrite {schema}.batch select * except (at), timestamp '9999-12-31' from {schema}.batch")
    message = project.fail("run", "--select", "dim_sql")
    assert "rows have a time in `at` that is not before `open_end` (9999-12-31): region EU, id 9" in message
    assert project.version("dim_sql") == before


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        ("compared", "dim_sql"),
        ("staged", "dim_ordered"),
        pytest.param("compared", "dim_ordered", marks=pytest.mark.slow),
        pytest.param("staged", "dim_sql", marks=pytest.mark.slow),
    ],
)
def test_a_key_without_a_current_version_keeps_its_past(project: DbtProject, plan: str, name: str) -> None:
    # A load leaves no such key; a person who deletes current versions does.
    variables = "{scd2_read_twice_from: %s}" % (1000000 if plan == "compared" else 0)
    run = ["run", "--select", name, "--vars", variables]
    columns = "id, name, effective_from, effective_to, is_current"
    versions = [("EU", 20, value, "U", 1, T[day]) for day, value in enumerate("abc")]
    project.sql(f"drop table if exists {{schema}}.{name}")
    project.load("batch", DDL, [("EU", 1, "other", "U", 1, T[0]), *versions])
    project.succeed(*run)
    expected = project.history(name, columns)
    project.sql(f"delete from {{schema}}.{name} where is_current and id = 20")
    # The versions again, and one that is older than those that are left.
    project.load("batch", DDL, versions)
    project.succeed(*run)
    assert project.history(name, columns) == expected
    project.sql(f"delete from {{schema}}.{name} where is_current and id = 20")
    project.load("batch", DDL, [("EU", 20, "late", "U", 1, T[0] + timedelta(hours=1))])
    project.succeed(*run)
    late = T[0] + timedelta(hours=1)
    # Nothing says that the key was deleted, so the last of what is left is open again.
    assert with_open_ends(project.history(name, "name, effective_from, effective_to", "id = 20")) == [
        ("a", T[0], late),
        ("late", late, T[1]),
        ("b", T[1], None),
    ]

    project.sql(f"delete from {{schema}}.{name} where is_current and id = 20")
    deleted, returned = (T[3] + timedelta(hours=hour) for hour in (1, 2))
    project.load("batch", DDL, [("EU", 20, None, "D", 1, deleted), ("EU", 20, "again", "U", 1, returned)])
    project.succeed(*run)
    assert with_open_ends(project.history(name, "name, effective_from, effective_to, is_deleted", "id = 20"))[1:] == [
        ("late", late, deleted, True),
        ("again", returned, None, False),
    ]


def test_a_key_that_is_not_utf_8_is_found_again(make_project) -> None:
    options = "materialized='scd2', source_kind='increment', unique_key='code', effective_at='at'"
    query = "select cast(code as string) as code, value, at from {{ target.schema }}.codes"
    files = {
        f"models/dim_{kind}.sql": f"{{{{ config({options}, hard_deletes='{kind}') }}}}\n{query}"
        for kind in ("soft_delete", "invalidate")
    }
    project = make_project(files)
    codes = [b"M\xfc", b"Ma", b"\xc3\xbc"]
    for day, value in enumerate("ab"):
        project.load("codes", "code binary, value string, at timestamp", [(code, value, T[day]) for code in codes])
        project.succeed("run")
    for kind in ("soft_delete", "invalidate"):
        current = f"select value, count(*) from {{schema}}.dim_{kind} where is_current group by value"
        assert [tuple(row) for row in project.sql(current)] == [("b", 3)]
