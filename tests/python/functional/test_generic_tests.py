"""Each invariant's test finds what violates it, names the keys, and leaves a sound table alone.

The tests of a dimension that have no arguments count their rows in one statement, and find the same.
"""

from __future__ import annotations

import re
from datetime import date

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr, lit

from harness import INVARIANTS, DbtProject

DDL = "id int, value string, valid_from date, valid_to date, current string, deleted string"
END = date(9999, 12, 31)

# How a table keeps its history, as arguments of the tests, and rows of one that is sound.
SOUND = {
    "soft_delete": (
        {"hard_deletes": "soft_delete"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "b", "2024-01-02", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "Y"),
            (2, "a", "2024-01-03", None, "Y", "N"),
            (3, None, "2024-01-01", "2024-01-02", "Y", "Y"),
        ],
    ),
    "invalidate": (
        {"hard_deletes": "invalidate"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "b", "2024-01-02", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "Y"),
        ],
    ),
    "new_record": (
        {"hard_deletes": "new_record"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "a", "2024-01-02", "2024-01-03", "N", "Y"),
            (1, "a", "2024-01-03", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (2, "a", "2024-01-02", None, "Y", "Y"),
        ],
    ),
    "ignore": (
        {"hard_deletes": "ignore"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "b", "2024-01-02", None, "Y", "N"),
        ],
    ),
    "gap": (
        {"closing_gap": "'1 day'"},
        [
            (1, "a", "2024-01-01", "2024-01-02", "N", "N"),
            (1, "b", "2024-01-03", None, "Y", "N"),
            (2, "a", "2024-01-01", "2024-01-02", "N", "Y"),
            (2, "a", "2024-01-04", None, "Y", "N"),
        ],
    ),
}
# Rows that a test has to find in such a table, each key by itself.
VIOLATIONS = {
    ("soft_delete", "one_current_row_per_key"): [
        (9, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (9, "b", "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", None, "N", "N"),
        (11, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (11, "b", "2024-01-02", None, "N", "N"),
        (12, "a", "2024-01-01", None, None, "N"),
    ],
    ("invalidate", "one_current_row_per_key"): [
        (9, "a", "2024-01-01", None, "N", "N"),
        (10, "a", "2024-01-01", "2024-01-02", "Y", "Y"),
        (11, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (11, "b", "2024-01-02", "2024-01-03", "N", "Y"),
    ],
    ("soft_delete", "no_overlapping_validity"): [
        (9, "a", "2024-01-01", "2024-01-05", "N", "N"),
        (9, "b", "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", None, "N", "N"),
        (10, "b", "2024-01-02", None, "Y", "N"),
    ],
    ("gap", "no_overlapping_validity"): [
        (9, "a", "2024-01-01", "2024-01-03", "N", "N"),
        (9, "b", "2024-01-03", None, "Y", "N"),
    ],
    ("soft_delete", "valid_intervals"): [
        (9, "a", "2024-01-03", "2024-01-02", "Y", "N"),
        (10, "a", None, None, "Y", "N"),
        (11, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (11, "b", "2024-01-03", None, "Y", "N"),
        (12, "a", "2024-01-01", "2024-01-02", "Y", "N"),
        (13, "a", "2024-01-01", "2024-01-02", "N", "Y"),
        (13, "b", "2024-01-02", None, "Y", "N"),
    ],
    ("new_record", "valid_intervals"): [
        (9, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (9, "a", "2024-01-02", "2024-01-03", "Y", "Y"),
        (10, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (10, "a", "2024-01-02", "2024-01-03", "N", "Y"),
        (10, "b", "2024-01-04", None, "Y", "N"),
        (11, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (11, "a", "2024-01-03", None, "Y", "Y"),
    ],
    ("gap", "valid_intervals"): [
        (9, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (9, "b", "2024-01-04", None, "Y", "N"),
    ],
    ("soft_delete", "versions_differ"): [
        (9, None, "2024-01-01", "2024-01-02", "N", "N"),
        (9, None, "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (10, "a", "2024-01-02", "2024-01-03", "Y", "Y"),
    ],
    ("new_record", "versions_differ"): [
        (9, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (9, "a", "2024-01-02", None, "Y", "N"),
        (10, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (10, "a", "2024-01-02", "2024-01-03", "N", "Y"),
        (10, "a", "2024-01-03", None, "Y", "Y"),
        (11, "a", "2024-01-01", None, "Y", "Y"),
        (12, "a", "2024-01-01", "2024-01-02", "N", "N"),
        (12, "b", "2024-01-02", None, "Y", "Y"),
        (13, None, "2024-01-01", "2024-01-02", "N", "N"),
        (13, "a", "2024-01-02", "2024-01-03", "N", "Y"),
        (13, "b", "2024-01-03", None, "Y", "N"),
    ],
    ("soft_delete", "deleted_rows_closed"): [
        (9, "a", "2024-01-01", None, "Y", "Y"),
        (10, "a", "2024-01-01", None, "Y", None),
        (11, "a", "2024-01-01", None, "Y", "no"),
    ],
    ("invalidate", "deleted_rows_closed"): [
        (9, "a", "2024-01-01", "2024-01-02", "Y", "Y"),
    ],
    ("ignore", "deleted_rows_closed"): [
        (9, "a", "2024-01-01", "2024-01-02", "Y", "Y"),
    ],
    ("new_record", "deleted_rows_closed"): [
        (9, "a", "2024-01-01", None, "N", "Y"),
    ],
}

ACCEPTED_ARGUMENTS = {
    "one_current_row_per_key": [
        "unique_key", "effective_from", "is_current", "is_deleted", "flag_values", "hard_deletes",
    ],
    "no_overlapping_validity": ["unique_key", "effective_from", "effective_to", "closing_gap"],
    "valid_intervals": [
        "unique_key", "effective_from", "effective_to", "is_deleted", "flag_values", "open_end", "closing_gap",
        "hard_deletes",
    ],
    "versions_differ": ["unique_key", "effective_from", "is_deleted", "flag_values", "hard_deletes", "track_columns"],
    "deleted_rows_closed": [
        "unique_key", "effective_from", "effective_to", "is_current", "is_deleted", "flag_values", "open_end",
        "hard_deletes",
    ],
}  # fmt: skip

VALUES = {
    "unique_key": "id",
    "effective_from": "valid_from",
    "effective_to": "valid_to",
    "is_current": "current",
    "is_deleted": "deleted",
    "flag_values": "['Y', 'N']",
    "open_end": "'9999-12-31'",
    "track_columns": "[value]",
}


def attached(test: str, values: dict[str, str]) -> str:
    arguments = "".join(f"            {n}: {values[n]}\n" for n in ACCEPTED_ARGUMENTS[test] if n in values)
    return f"      - delta_scd2.{test}:\n          arguments:\n{arguments}"


def table_of(kind: str, test: str) -> str:
    return f"{kind}_{test}"


def dated(rows: list[tuple]) -> list[tuple]:
    """Rows with their dates; what has no end is open."""
    return [
        (key, value, since and date.fromisoformat(since), date.fromisoformat(until) if until else END, *flags)
        for key, value, since, until, *flags in rows
    ]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    tables = {f"sound_{kind}": (kind, list(ACCEPTED_ARGUMENTS), []) for kind in SOUND}
    tables |= {table_of(kind, test): (kind, [test], rows) for (kind, test), rows in VIOLATIONS.items()}
    yaml = "version: 2\nmodels:\n"
    files = {}
    for table, (kind, tests, _) in tables.items():
        files[f"models/of_{table}.sql"] = f"select * from {{{{ target.schema }}}}.{table}"
        values = VALUES | SOUND[kind][0]
        yaml += f"  - name: of_{table}\n    data_tests:\n" + "".join(attached(test, values) for test in tests)
    project = make_project({**files, "models/schema.yml": yaml})
    for table, (kind, _, rows) in tables.items():
        project.load(table, DDL, dated(SOUND[kind][1] + rows))
    project.succeed("run")
    return project


def test_sound_tables_pass(project: DbtProject) -> None:
    assert len(project.succeed("test", "--select", "of_sound_*")) == len(SOUND) * len(ACCEPTED_ARGUMENTS)


def test_violations_are_found_with_their_keys(project: DbtProject) -> None:
    result = project.dbt("test", "--exclude", "of_sound_*", "--store-failures")
    failures = {r.node.attached_node.split(".of_")[1]: r.node.relation_name for r in result.result.results}
    assert {r.status for r in result.result.results} == {"fail"}
    assert set(failures) == {table_of(*case) for case in VIOLATIONS}
    for case, rows in VIOLATIONS.items():
        found = project.sql(f"select id from {failures[table_of(*case)]}")
        assert {row.id for row in found} == {key for key, *_ in rows}, case


QUOTE = "'"
CONFIG = """{{{{ config(
    materialized='scd2', unique_key='id', effective_at='at', track_columns=['value'], flag_values=['Y', 'N'], {options},
    scd2_columns={{
        'effective_from': 'valid_from', 'effective_to': 'valid_to', 'is_current': 'current', 'is_deleted': 'deleted'
    }}
) }}}}
select 1 as id, 'a' as value, date '2024-01-01' as at
"""


def numbered(kind: str, test: str, rows: list[tuple]) -> list[tuple]:
    """Rows with keys that no other test of the kind has."""
    first = 100 * [case for case in VIOLATIONS if case[0] == kind].index((kind, test))
    return [(first + key, *rest) for key, *rest in rows]


def violations(kind: str) -> list[tuple]:
    """What all tests of a kind find."""
    cases = [(test, rows) for (of_kind, test), rows in VIOLATIONS.items() if of_kind == kind]
    return [row for test, rows in cases for row in numbered(kind, test, rows)]


@pytest.fixture(scope="module")
def dimensions(make_project) -> DbtProject:
    """Dimensions whose tests have no arguments: one for each kind that is sound, and one that is not."""
    files = {}
    yaml = "models:\n"
    for kind, (options, _) in SOUND.items():
        (option,) = [f"{name}={value.strip(QUOTE)!r}" for name, value in options.items()]
        for state in ("sound", "broken"):
            files[f"models/{state}_{kind}.sql"] = CONFIG.format(options=option)
            yaml += f"  - {{name: {state}_{kind}, data_tests: {INVARIANTS}}}\n"
    project = make_project({**files, "models/schema.yml": yaml})
    for kind, (_, rows) in SOUND.items():
        project.load(f"sound_{kind}", DDL, dated(rows))
        project.load(f"broken_{kind}", DDL, dated(rows + violations(kind)))
    return project


def reads(statements: list[str], relation: str) -> list[str]:
    """The statements of tests that read the rows of a relation."""
    of_tests = [sql for sql in statements if '"node_id": "test.' in sql and "view `__dbt_bound_" not in sql]
    return [sql for sql in of_tests if re.search(rf"from {re.escape(relation)}\b", sql)]


def test_sound_dimensions_are_read_once(dimensions: DbtProject, statements: list[str]) -> None:
    results = dimensions.succeed("test", "--select", "sound_*", "--threads", "1")
    assert len(results) == len(SOUND) * len(ACCEPTED_ARGUMENTS)
    for kind in SOUND:
        (read,) = reads(statements, f"{dimensions.schema}.sound_{kind}")
        assert all(f" as {test}" in read for test in ACCEPTED_ARGUMENTS)


def test_broken_dimensions_fail_as_each_test_finds(dimensions: DbtProject, statements: list[str]) -> None:
    counted = dimensions.dbt("test", "--select", "broken_*", "--threads", "1").result.results
    counts = {kind: reads(statements, f"{dimensions.schema}.broken_{kind}")[0] for kind in SOUND}
    found = dimensions.dbt("test", "--select", "broken_*", "--store-failures").result.results
    failures = {r.node.unique_id: r.failures for r in found}
    assert {r.node.unique_id: r.failures for r in counted} == failures
    assert {r.status for r in counted} == {"pass", "fail"}

    stored = {(r.node.attached_node.split(".broken_")[1], r.node.test_metadata.name): r for r in found}
    for kind, count in counts.items():
        (row,) = dimensions.sql(count)
        assert row.asDict() == {test: stored[kind, test].failures for test in ACCEPTED_ARGUMENTS}
    for (kind, test), rows in VIOLATIONS.items():
        keys = {key for key, *_ in numbered(kind, test, rows)}
        assert {row.id for row in dimensions.sql(f"select id from {stored[kind, test].node.relation_name}")} >= keys


def test_several_threads_find_the_same(dimensions: DbtProject, statements: list[str]) -> None:
    kinds = ("new_record", "gap")
    tested = [f"{state}_{kind}" for state in ("sound", "broken") for kind in kinds]
    results = dimensions.dbt("test", "--select", *tested, "--threads", "4").result.results
    failed = {r.node.attached_node.split(".")[-1] for r in results if r.status == "fail"}
    assert failed == {f"broken_{kind}" for kind in kinds}
    assert {str(r.status) for r in results} == {"pass", "fail"}
    for kind in kinds:
        relation = f"{dimensions.schema}.sound_{kind}"
        assert sum("from business_keys" in sql for sql in reads(statements, relation)) == 1


def test_a_build_tests_what_it_built(dimensions: DbtProject, statements: list[str]) -> None:
    """Each build counts anew, after its load."""
    dimensions.write(
        {
            "models/dim_built.sql": CONFIG.format(options="source_kind='snapshot'"),
            "models/built.yml": f"models: [{{name: dim_built, data_tests: {INVARIANTS}}}]",
        }
    )
    relation = f"{dimensions.schema}.dim_built"
    dimensions.succeed("build", "--select", "dim_built", "--threads", "1")
    (read,) = reads(statements, relation)
    (created,) = [sql for sql in statements if re.search(rf"create (or replace )?table {relation}\b", sql)]
    assert statements.index(created) < statements.index(read)
    dimensions.sql(f"update {relation} set valid_to = date '2000-01-01'")
    statements.clear()
    results = dimensions.dbt("build", "--select", "dim_built", "--threads", "1").result.results
    assert {r.node.test_metadata.name for r in results if r.status == "fail"} == {"valid_intervals"}
    assert len(reads(statements, relation)) == 2
    # `as_of` does not take a null for the date of an open end, so the key would be lost there.
    for flags in ("deleted = 'N'", "deleted = 'Y'"):
        dimensions.sql(f"update {relation} set valid_to = null, {flags}")
        results = dimensions.dbt("test", "--select", "dim_built", "--threads", "1").result.results
        assert {r.node.test_metadata.name for r in results if r.status == "fail"} == {"valid_intervals"}


def test_a_test_alone_asks_for_itself(dimensions: DbtProject, statements: list[str]) -> None:
    dimensions.succeed("test", "--select", "sound_gap,test_name:valid_intervals")
    (read,) = reads(statements, f"{dimensions.schema}.sound_gap")
    assert "_scd2_problem is not null" in read


def test_compiling_asks_nothing(dimensions: DbtProject, statements: list[str]) -> None:
    assert len(dimensions.succeed("compile", "--select", "sound_*")) > len(SOUND)
    assert [sql for kind in SOUND for sql in reads(statements, f"{dimensions.schema}.sound_{kind}")] == []


def test_a_project_is_compiled_before_its_tables_are_there(make_project, spark: SparkSession) -> None:
    limited = "{delta_scd2.versions_differ: {name: limited, config: {where: id > 0}}}"
    tests = f"models: [{{name: dim_later, data_tests: {INVARIANTS[:-1]}, {limited}]}}]"
    model = "{{ config(materialized='scd2', unique_key='id') }} select 1 as id, 'a' as v, map('k', 1, 'l', 2) as tags"
    project = make_project({"models/dim_later.sql": model, "models/models.yml": tests})
    project.succeed("compile")
    project.succeed("build")

    # A version that differs in nothing, not in the order of its map either, is found.
    table = spark.table(f"{project.schema}.dim_later")
    again = {"effective_from": "2100-01-01", "effective_to": "9999-12-31"}
    version = table.withColumns({name: lit(text).cast("timestamp") for name, text in again.items()})
    version.withColumn("tags", expr("map('l', 2, 'k', 1)")).createOrReplaceTempView("again")
    project.sql("create table {schema}.again using delta as select * from again")
    project.sql("update {schema}.dim_later set effective_to = timestamp '2100-01-01', is_current = false")
    project.sql("insert into {schema}.dim_later select * from {schema}.again")
    results = project.dbt("test").result.results
    assert {result.node.name for result in results if result.status == "fail"} == {
        "limited",
        "delta_scd2_versions_differ_dim_later_",
    }
    assert not [result for result in results if result.status == "error"]


def test_a_table_needs_the_flags_that_a_test_compares(make_project) -> None:
    arguments = "unique_key: id, effective_from: since, effective_to: until, hard_deletes: ignore"
    tests = f"""
models:
  - name: unflagged
    data_tests:
      - delta_scd2.one_current_row_per_key:
          arguments: {{unique_key: id, effective_from: since, is_current: newest}}
      - delta_scd2.valid_intervals: {{arguments: {{{arguments}}}}}
"""
    row = "1 as id, timestamp '2024-01-01' as since, cast(null as timestamp) as until, true as newest"
    project = make_project({"models/unflagged.sql": f"select {row}", "models/tests.yml": tests})
    project.succeed("build")


def test_wrong_arguments_are_told(make_project) -> None:
    arguments = "{unique_key: id, closing_gap: 1 ms, hard_deletes: new_records}"
    wrong = f"{{delta_scd2.valid_intervals: {{arguments: {arguments}}}}}"
    # A table that is kept by hand may have null ends, also without arguments.
    right = "{delta_scd2.versions_differ: {arguments: {track_columns: [a]}}}, delta_scd2.valid_intervals"
    incremental = """
        {{ config(materialized='incremental', unique_key='id', on_schema_change='sync_all_columns') }}
        select
            1 as id, 'a' as a, current_timestamp() as effective_from, cast(null as timestamp) as effective_to,
            true as is_current, false as is_deleted
    """
    project = make_project({
        "models/other.sql": "select 1 as id",
        "models/incremental.sql": incremental,
        "models/models.yml": "models: "
        f"[{{name: other, data_tests: [{wrong}]}}, {{name: incremental, data_tests: [{right}]}}]",
    })  # fmt: skip
    project.succeed("run")
    project.succeed("test", "--select", "incremental")
    message = project.fail("test", "--select", "other")
    assert "`hard_deletes` is `new_records`, expected one of soft_delete" in message
    assert "`closing_gap` is `1 ms`, expected 0 or an interval" in message


def test_another_table_does_not_take_the_settings_of_models_in_its_condition(make_project) -> None:
    config = "config(materialized='scd2', unique_key='id', closing_gap='1 day', flag_values=['Y', 'N'])"
    project = make_project({"models/dim_with_gap.sql": f"{{{{ {config} }}}} select 1 as id"})
    begin, end = "unique_key: id, effective_from: valid_from", "effective_to: valid_to"
    arguments = {
        "no_overlapping_validity": f"{begin}, {end}",
        "valid_intervals": f"{begin}, {end}",
        "versions_differ": begin,
    }
    where = f"id in (select id from {project.schema}.dim_with_gap)"
    tests = ", ".join(
        f'{{delta_scd2.{name}: {{arguments: {{{given}}}, config: {{where: "{where}"}}}}}}'
        for name, given in arguments.items()
    )
    table = f"{{name: by_hand, data_tests: [{tests}]}}"
    project.write({"models/sources.yml": f"sources: [{{name: legacy, schema: {project.schema}, tables: [{table}]}}]"})
    project.load(
        "by_hand",
        "id int, value string, valid_from date, valid_to date, is_current boolean, is_deleted boolean",
        [
            (1, "a", date(2024, 1, 1), date(2024, 1, 3), False, False),
            (1, "b", date(2024, 1, 3), END, True, False),
        ],
    )
    project.succeed("run")
    assert len(project.succeed("test")) == len(arguments)
    # An end that would be right with the gap of the dimension.
    project.sql("update {schema}.by_hand set valid_to = date '2024-01-02' where value = 'a'")
    results = project.dbt("test").result.results
    assert [r.node.test_metadata.name for r in results if r.status == "fail"] == ["valid_intervals"]


LISTED = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at', on_schema_change='ignore',
    track_columns=var('later', false) and ['a', 'later'] or ['a', 'b']
) }}
select id, a, {{ "'x' as later" if var('later', false) else 'b' }}, at from {{ target.schema }}.listed
"""


DOCUMENTS = """
{{ config(
    materialized='scd2', unique_key='id', effective_at='at',
    ignore_columns=none if var('later', false) else ['payload']
) }}
select id, name, {{ "" if var('later', false) else "parse_json('1') as payload," }} at
from {{ target.schema }}.documents
"""


def test_a_column_that_left_may_be_one_that_cannot_be_compared(make_project) -> None:
    yaml = f"models: [{{name: dim_document, data_tests: {INVARIANTS}}}]"
    project = make_project({"models/dim_document.sql": DOCUMENTS, "models/models.yml": yaml})
    for number, later in enumerate(("false", "true")):
        project.load("documents", "id int, name string, at date", [(1, "ab"[number], date(2024, 1, 1 + number))])
        project.succeed("build", "--vars", f"{{later: {later}}}")
    assert project.history("dim_document", "name, payload is null") == [("a", False), ("b", True)]


def test_listed_columns_may_leave_the_model_or_not_be_stored(make_project) -> None:
    """Old versions differ in a column that has left; a new one that is ignored cannot be compared."""
    alone = "{name: dim_listed, data_tests: [delta_scd2.versions_differ]}"
    files = {"models/dim_listed.sql": LISTED, "models/models.yml": f"models: [{alone}]"}
    project = make_project(files)
    for number, (a, b) in enumerate([("a", "b"), ("a", "c"), ("d", "c")]):
        project.load("listed", "id int, a string, b string, at date", [(1, a, b, date(2024, 1, 1 + number))])
        project.succeed("run", *(["--vars", "{later: true}"] if number == 2 else []))
    assert project.history("dim_listed", "a, b") == [("a", "b"), ("a", "c"), ("d", None)]
    project.succeed("test", "--vars", "{later: true}")
    project.write({"models/models.yml": f"models: [{{name: dim_listed, data_tests: {INVARIANTS}}}]"})
    project.succeed("test", "--vars", "{later: true}")
    # dbt gives the tests a subquery without rows.
    project.succeed("build", "--empty", "--vars", "{later: true}")

    project.sql("update {schema}.dim_listed set a = 'a', b = null")
    assert "Got 2 results" in project.fail("test", "--vars", "{later: true}")
