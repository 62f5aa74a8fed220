"""What is refused: nothing is written, and the message names the model, the rows and the remedy."""

from __future__ import annotations

from datetime import datetime

import pytest

from harness import ROOT, DbtProject, tuples

DDL = "id int, value string, extracted_at timestamp"
FIRST, SECOND, THIRD, FOURTH = (datetime(2024, 1, day) for day in (1, 2, 3, 4))
GOOD = [(key, f"v{key}", SECOND) for key in range(1, 9)]
UNCHANGED = [(key, value, THIRD) for key, value, _ in GOOD]
LOST_PARTITION = (
    "rows have a value in `value` that Delta does not keep where it partitions by the column (an empty text,"
)

# name: (bad second load, what the message must say)
REFUSED = {
    "duplicate_keys": (
        [*[(key, "x", THIRD) for key in range(1, 9)], (3, "y", THIRD), (5, "y", THIRD)],
        [
            "2024-01-03",
            "2 row(s) that repeat",
            "id 3; id 5",
            "keep one row of each key and `extracted_at` in the model.",
        ],
    ),
    "unchanged_row_twice": ([*UNCHANGED, UNCHANGED[2]], ["2024-01-03", "1 row(s) that repeat", "another one: id 3."]),
    "one_twice_and_one_gone": (
        [*UNCHANGED[:7], UNCHANGED[0]],
        ["2024-01-03", "1 row(s) that repeat", "another one: id 1."],
    ),
    "new_key_twice": (
        [*UNCHANGED, (9, "new", THIRD), (9, "new", THIRD), (10, "x", THIRD), (10, "y", THIRD)],
        ["2024-01-03", "2 row(s) that repeat", "another one: id 10; id 9."],
    ),
    "twice_in_one_of_two": (
        [*UNCHANGED, UNCHANGED[0], *[(key, value, FOURTH) for key, value, _ in GOOD[1:]]],
        ["2024-01-03", "1 row(s) that repeat", "another one: id 1."],
    ),
    "new_key_twice_in_one_of_two": (
        [*UNCHANGED, *[(9, "new", THIRD)] * 2, *[(key, value, FOURTH) for key, value, _ in GOOD], (9, "new", FOURTH)],
        ["2024-01-03", "1 row(s) that repeat", "another one: id 9."],
    ),
    "absences_ignored": ([*UNCHANGED[:2], UNCHANGED[1]], ["2024-01-03", "1 row(s) that repeat", "another one: id 2."]),
    "null_keys": (
        [*[(key, "x", THIRD) for key in range(1, 9)], (None, "y", THIRD)],
        ["1 row(s) with a null in the business key", "id null", "filter these rows"],
    ),
    "empty": (
        [],
        [
            "has 0 row(s), fewer than `min_rows` (1)",
            "Remedy: load the whole extract; if there is no new one,"
            " return the last one again, or set `min_rows` to 0.",
        ],
    ),
    "shrunken": (
        [(1, "v1", THIRD), (2, "v2", THIRD), (3, "v3", THIRD)],
        ["would delete 5 of 8 live keys", "id 4; id 5; id 6; id 7; id 8", "raise `max_delete_fraction`"],
    ),
    "tombstones_shrink": (UNCHANGED[:3], ["would delete 5 of 8 live keys", "id 4; id 5; id 6; id 7; id 8"]),
    "second_of_two_shrinks": (
        [*UNCHANGED, *[(key, value, FOURTH) for key, value, _ in GOOD[:3]]],
        ["the extract of 2024-01-04 00:00:00 UTC would delete 5 of 8 live keys", "id 4; id 5; id 6; id 7; id 8"],
    ),
    "too_few": (UNCHANGED[:4], ["the extract of 2024-01-03 00:00:00 UTC has 4 row(s), fewer than `min_rows` (5)"]),
    "ends_too_early": (
        [(1, "x", THIRD), *UNCHANGED[1:]],
        ["1 version(s) would end before they begin, as `closing_gap` is 2 days: id 1.", "choose a smaller"],
    ),
    "partitioned_once": (
        [(1, "", THIRD), *UNCHANGED[1:]],
        [LOST_PARTITION, "UTF-8): id 1."],
    ),
    "partitioned_by_a_quoted_name": (
        [(1, "", THIRD), *UNCHANGED[1:]],
        [LOST_PARTITION, "UTF-8): id 1."],
    ),
    "late": (
        [(key, "x", FIRST) for key in range(1, 9)],
        [
            "the extract of 2024-01-01 00:00:00 UTC comes too late",
            "the dimension already has the history up to 2024-01-02 00:00:00 UTC.\n",
            "Remedy: leave this extract out of the model. Or, to put it into the history, let the model return it and"
            " every later extract (one that is missing is lost from the history), and run "
            "`dbt run --select late --vars '{scd2_rebuild_from: \"2024-01-01 00:00:00\"}'`.",
        ],
    ),
    "same_time_other_rows": (
        [(1, "other", SECOND), *GOOD[1:7], (9, "new", SECOND)],
        [
            "applied before with other rows, 1 new, 1 changed and 1 gone: id 1; id 8; id 9. What changed is `value`.",
            "a later `effective_at`",
            "A column that has another value in each run belongs to `ignore_columns`.",
        ],
    ),
    "times_of_rows": (
        [(key, f"v{key}", THIRD if key < 5 else FOURTH) for key in range(1, 10)],
        [
            "the extract of 2024-01-04 00:00:00 UTC would delete 4 of 4 live keys",
            "Remedy: if `extracted_at` is the time at which a row was updated, and not that of the extract, remove"
            " `effective_at`, or set `source_kind` to `increment`; otherwise load the whole extract;",
        ],
    ),
    "some_rows_updated": (
        [*GOOD[:7], (8, "new", THIRD)],
        ["applied before with other rows, 0 new, 0 changed and 1 gone: id 8", "Remedy: if `extracted_at` is the time"],
    ),
    "no_time": ([*GOOD, (9, "x", None)], ["1 row(s) have no `extracted_at`", "id 9"]),
}

MODEL = """
{{ config(materialized='scd2', unique_key='id', effective_at='extracted_at'<options>) }}
select * from {{ target.schema }}.<source>
"""
# One table holds the extracts of all of them.
PART = "select * except (name) from {{ target.schema }}.refused where name = '<name>'"
OPTIONS = {
    "absences_ignored": "hard_deletes='ignore'",
    "tombstones_shrink": "hard_deletes='new_record'",
    "second_of_two_shrinks": "hard_deletes='invalidate'",
    "too_few": "min_rows=5",
    "ends_too_early": "closing_gap='2 days'",
    "partitioned_once": "partition_by='value'",
    "partitioned_by_a_quoted_name": "partition_by=['`Value`']",
}


def model(source: str, options: str = "") -> str:
    return MODEL.replace("<source>", source).replace("<options>", f", {options}" if options else "")


def refused_model(name: str, options: str = "") -> str:
    return model("refused", options).replace("select * from {{ target.schema }}.refused", PART.replace("<name>", name))


def give(project: DbtProject, rows: dict[str, list[tuple]]) -> None:
    project.load("refused", f"{DDL}, name string", [(*row, name) for name, given in rows.items() for row in given])


MISTAKEN = """
{{ config(
    materialized='scd2', unique_key='idd', effective_at='value', hard_delete='ignore', surrogate_key='serial',
    flag_values=['Y', 'Y'], open_end='2023-02-29', closing_gap='1 fortnight', max_delete_fraction=2, min_rows='many',
    scd2_columns={'valid_from': 'x', 'effective_to': ''}, tblproperties=['delta.appendOnly'],
    ignore_columns='id, value', clustered_by='id', sql_header='-- none',
    overwrite_columns='vlaue',
) }}
select 1 as id, 'a' as value, true as is_current
"""
CONTRACT = """
models:
  - name: under_contract
    config: {contract: {enforced: true}}
    columns: [{name: id, data_type: int}, {name: value, data_type: string}, {name: extracted_at, data_type: timestamp}]
"""


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {f"models/{name}.sql": refused_model(name, OPTIONS.get(name, "")) for name in REFUSED}
    files["models/mistaken.sql"] = MISTAKEN
    files["models/under_contract.sql"] = model("src_steady")
    files["models/under_contract.yml"] = CONTRACT
    files["models/steady.sql"] = model("src_steady")
    files["models/in_the_way.sql"] = model("src_steady")
    files["models/not_delta.sql"] = model("src_steady")
    project = make_project(files)
    give(project, dict.fromkeys(REFUSED, GOOD))
    project.load("src_steady", DDL, GOOD)
    project.succeed("run", "--exclude", "mistaken", "under_contract", "in_the_way", "not_delta")
    # The table keeps its partitions when the model names them no longer.
    project.write({"models/partitioned_once.sql": refused_model("partitioned_once")})
    return project


def test_bad_extracts_are_refused_before_anything_is_written(project: DbtProject) -> None:
    before = {name: project.version(name) for name in REFUSED}
    give(project, {name: rows for name, (rows, _) in REFUSED.items()})
    result = project.dbt("run", "--select", *REFUSED)
    messages = {r.node.name: str(r.message) for r in result.result.results}
    for name, (_, expected) in REFUSED.items():
        for part in [name + ":", "Nothing was written", *expected]:
            assert part in messages[name]
    assert {name: project.version(name) for name in REFUSED} == before
    # What was refused can be read, though nothing of it was written.
    for name in ("shrunken", "second_of_two_shrinks"):
        (file,) = (project.directory / "target" / "run").rglob(f"{name}.sql")
        assert "_scd2_action" in file.read_text(), name


def test_a_profile_that_signs_the_commits_is_refused(make_project, profile_setting) -> None:
    project = make_project({"models/dim_signed.sql": model("extract")})
    project.load("extract", DDL, GOOD)
    setting = "spark.databricks.delta.commitInfo.userMetadata"
    with profile_setting(setting, "etl"):
        assert f"the profile sets `{setting}`, by which a run knows its commits: remove it" in project.fail("run")


def test_a_first_extract_is_refused_as_well(make_project) -> None:
    project = make_project({"models/dim_first.sql": model("extract")})
    project.load("extract", DDL, [*GOOD, GOOD[2]])
    message = project.fail("run")
    assert "dim_first: the extract of 2024-01-02 00:00:00 UTC has 1 row(s) that repeat" in message
    assert "keep one row of each key and `extracted_at` in the model, or add a column to `unique_key`." in message
    assert "another one: id 3." in message
    project.load("extract", DDL, [*GOOD, *UNCHANGED, UNCHANGED[2]])
    assert "the extract of 2024-01-03 00:00:00 UTC has 1 row(s) that repeat" in project.fail("run")
    assert "dim_first" not in project.relations()


def test_an_empty_extract_deletes_where_that_was_asked_for(make_project) -> None:
    options = "min_rows=0, max_delete_fraction=1"
    undated = model("extract", options).replace(", effective_at='extracted_at'", ", ignore_columns='extracted_at'")
    project = make_project({"models/dim_dated.sql": model("extract", options), "models/dim_undated.sql": undated})
    project.load("extract", DDL, GOOD)
    project.succeed("run")
    project.load("extract", DDL, [])
    results = project.succeed("run")
    # Without rows there is no time that an extract could have.
    assert {name: r.message for name, r in results.items()} == {
        "dim_dated": "UNCHANGED",
        "dim_undated": "MERGE 0 opened, 0 closed, 8 deleted",
    }


def test_one_error_lists_every_mistake(project: DbtProject) -> None:
    message = project.fail("run", "--select", "mistaken")
    for part in [
        "17 mistake(s)",
        "`hard_delete` is not an option of the scd2 materialization: did you mean `hard_deletes`?",
        "`surrogate_key` is `serial`, expected one of hash, sequence, none",
        "`flag_values`",
        "`open_end` is `2023-02-29`",
        "`closing_gap` is `1 fortnight`",
        "`max_delete_fraction` is `2`",
        "`min_rows` is `many`",
        "`scd2_columns` is `{'valid_from': 'x', 'effective_to': ''}`, expected a mapping of columns to names",
        "`tblproperties` is `['delta.appendOnly']`, expected a mapping of properties to values",
        "`scd2_columns` names `valid_from`, which is not an added column: did you mean `effective_from`?\n",
        "`ignore_columns` names the column `id, value`, which the model does not return: "
        "write several columns as a list, `['id', 'value']`",
        "`overwrite_columns` names the column `vlaue`, which the model does not return: did you mean `value`?",
        "`unique_key` names the column `idd`, which the model does not return: did you mean `id`?",
        "`effective_at` names the column `value` of type string, expected a date or timestamp",
        "the model returns the column `is_current`",
        "`clustered_by` has no effect in the scd2 materialization: remove it",
        "`sql_header` has no effect in the scd2 materialization: remove it",
    ]:
        assert part in message
    assert project.sql("show tables in {schema} like 'mistaken'") == []


def test_a_contract_that_nothing_would_enforce_is_refused(project: DbtProject) -> None:
    message = project.fail("run", "--select", "under_contract")
    assert "under_contract: 1 mistake(s) in the configuration" in message
    assert "`contract` has no effect in the scd2 materialization: remove it" in message
    assert project.sql("show tables in {schema} like 'under_contract'") == []


def test_what_is_in_the_way_is_named(project: DbtProject) -> None:
    project.sql("create or replace view {schema}.in_the_way as select 1 as id")
    project.sql("create table {schema}.not_delta using parquet as select 1 as id")
    message = project.fail("run", "--select", "in_the_way", "not_delta")
    assert f"a view named {project.schema}.in_the_way is in the way" in message
    assert f"the table {project.schema}.not_delta is not a Delta table" in message
    assert tuples(project.sql("select * from {schema}.not_delta")) == [(1,)]


@pytest.mark.slow
def test_the_same_extract_again_commits_nothing(project: DbtProject) -> None:
    before = project.version("steady")
    results = project.succeed("run", "--select", "steady")
    assert results["steady"].message == "UNCHANGED"
    assert project.version("steady") == before


def test_empty_run_changes_no_dimension_and_creates_a_missing_one(project: DbtProject) -> None:
    before = project.version("steady")
    project.succeed("run", "--empty", "--select", "steady")
    assert project.version("steady") == before
    assert project.sql("select count(*) as n from {schema}.steady")[0].n == len(GOOD)

    columns = project.sql("describe {schema}.steady")
    project.sql("drop table {schema}.steady")
    project.succeed("run", "--empty", "--select", "steady")
    assert project.sql("describe {schema}.steady") == columns
    assert project.sql("select * from {schema}.steady") == []
    project.succeed("run", "--select", "steady")
    assert project.sql("select count(*) as n from {schema}.steady")[0].n == len(GOOD)


def test_rows_that_empty_leaves_in_are_checked(project: DbtProject) -> None:
    # `--empty` leaves out no row of a table that a model reads by its name.
    increment = model("by_name").replace("effective_at=", "source_kind='increment', effective_at=")
    project.write({"models/dim_by_name.sql": increment})
    project.load("by_name", DDL, [(None, "a", FIRST), (1, "a", FIRST)])
    empty = ["run", "--empty", "--select", "dim_by_name"]
    assert "1 row(s) with a null in the business key" in project.fail(*empty)
    project.load("by_name", DDL, [(1, "a", FIRST)])
    project.succeed(*empty)
    assert project.properties("dim_by_name")["scd2.unique_key"] == '["id"]'


def test_full_refresh_needs_a_second_word(project: DbtProject) -> None:
    before = project.version("steady")
    message = project.fail("run", "--full-refresh", "--select", "steady")
    assert "would throw away the history" in message
    assert "scd2_discard_history" in message
    assert project.version("steady") == before

    project.load("src_steady", DDL, [(1, "v1", THIRD)])
    project.succeed("run", "--full-refresh", "--select", "steady", "--vars", "{scd2_discard_history: true}")
    assert tuples(project.sql("select id, value, effective_from from {schema}.steady")) == [(1, "v1", THIRD)]

    allowed = model("src_steady").replace("materialized=", "full_refresh=true, materialized=")
    project.write({"models/steady.sql": allowed})
    project.load("src_steady", DDL, [(2, "v2", FIRST)])
    message = project.fail("run", "--select", "steady")
    assert "comes too late" in message
    project.succeed("run", "--full-refresh", "--select", "steady")
    assert tuples(project.sql("select id, value, effective_from from {schema}.steady")) == [(2, "v2", FIRST)]


@pytest.mark.slow
def test_a_changed_type_is_named(project: DbtProject) -> None:
    before = project.version("steady")
    project.load("src_steady", "id int, value int, extracted_at timestamp", [(1, 1, THIRD)])
    message = project.fail("run", "--select", "steady")
    assert "the column `value` is int in the model and string in" in message
    assert project.version("steady") == before


def test_a_session_that_changes_what_is_written_is_refused(make_project, profile_setting) -> None:
    project = make_project({"models/dim_naive.sql": model("naive")})
    project.load("naive", DDL, GOOD)
    for name, value, right in (
        ("spark.sql.timestampType", "timestamp_ntz", "TIMESTAMP_LTZ"),
        ("spark.sql.parser.escapedStringLiterals", "true", "false"),
        ("spark.sql.parser.quotedRegexColumnNames", "true", "false"),
    ):
        with profile_setting(name, value):
            assert f"set `{name}` to `{right}` in the profile" in project.fail("run", "--select", "dim_naive")
    project.succeed("run", "--select", "dim_naive")


def test_times_that_partitions_would_take_for_one_are_refused(make_project, monkeypatch: pytest.MonkeyPatch) -> None:
    options = "materialized='scd2', unique_key='id', effective_at='at', partition_by='effective_from'"
    query = f"{{{{ config({options}) }}}} select 1 as id, timestamp '2024-10-27 00:30:00Z' as at"
    project = make_project({"models/dim_parted.sql": query})
    profile = (ROOT / "profiles.yml").read_text()
    project.write({"profiles.yml": profile.replace("timeZone: &time_zone UTC", "timeZone: &time_zone Europe/Zurich")})
    with monkeypatch.context() as in_zurich:
        in_zurich.setattr("harness.ROOT", project.directory)
        message = project.fail("run")
    assert "the timestamp `effective_from` is a partition column of" in message
    assert "set `spark.sql.session.timeZone` to `UTC`" in message
    project.succeed("run")


def test_a_flag_that_a_partition_cannot_hold_is_refused(make_project) -> None:
    options = "materialized='scd2', unique_key='id', flag_values=['Y', ''], partition_by='is_current'"
    models = {
        "dim_flagged": options,
        "dim_mixed": options.replace("['Y', '']", "[1, false]"),
        "dim_fractions": options.replace("['Y', '']", "[1.0, 0.0]"),
        "dim_large_numbers": options.replace("['Y', '']", "[3000000000, 0]"),
        "dim_unparted": "materialized='scd2', unique_key='id', partition_by='is_curent'",
    }
    query = "{{{{ config({}) }}}} select 1 as id"
    project = make_project({f"models/{name}.sql": query.format(text) for name, text in models.items()})
    message = project.fail("run")
    assert "`flag_values` has a text for which Delta keeps null in `is_current`" in message
    assert message.count("expected two different texts, whole numbers or booleans") == 3
    assert "`partition_by` names the column `is_curent`, which the table does not have" in message
    assert "did you mean `is_current`?" in message
    assert not models.keys() & project.relations()


def test_added_columns_have_names_that_queries_and_delta_can_take(make_project) -> None:
    names = "{'is_deleted': '_SCD2_gone', 'effective_to': 'valid to'}"
    options = f"materialized='scd2', unique_key='id', effective_at='the day', scd2_columns={names}"
    query = f"{{{{ config({options}) }}}} select 1 as id, current_date as `the day`"
    project = make_project({"models/dim_named.sql": query})
    assert "`scd2_columns` gives the reserved name `_scd2_gone`" in project.fail("run")
    project.write({"models/dim_named.sql": query.replace("_SCD2_gone", "gone")})
    message = project.fail("run")
    assert "1 mistake(s)" in message
    assert "the column `valid to` has a character that Delta stores only with column mapping" in message


def test_columns_whose_values_cannot_be_compared_have_no_part_in_it(make_project) -> None:
    options = "unique_key=['id', 'tags'], overwrite_columns='payload'"
    query = "select 1 as id, map('a', 1) as tags, parse_json('{}') as payload"
    project = make_project({"models/dim_odd.sql": "{{ config(materialized='scd2', " + options + ") }} " + query})
    message = project.fail("run")
    assert "2 mistake(s)" in message
    assert "`tags` of type map<string,int> stands in `unique_key`, and maps cannot be compared: name other" in message
    assert (
        "`payload` of type variant stands in `overwrite_columns`, and variants cannot be compared: ignore it or"
        in message
    )
    assert "dim_odd" not in project.relations()


def test_surrogate_keys_do_not_go_on_below_zero(make_project) -> None:
    options = "materialized='scd2', unique_key='id', effective_at='at', surrogate_key='sequence', max_delete_fraction=1"
    models = {
        "dim_compared": options,
        "dim_staged": f"{options}, closing_gap='1 second'",
        "dim_three": f"{options}, merge_plan='three_clause'",
    }
    query = "{{{{ config({}) }}}} select * from {{{{ target.schema }}}}.numbered"
    project = make_project({f"models/{name}.sql": query.format(text) for name, text in models.items()})
    ddl = "id int, value string, at timestamp"
    project.load("numbered", ddl, [(1, "a", FIRST), (2, "a", FIRST)])
    project.succeed("run")
    for name in models:
        # One more key is left.
        project.sql(f"update {{schema}}.{name} set {name[4:]}_sk = 2147483646 where id = 2")
    versions = {name: project.version(name) for name in models}
    project.load("numbered", ddl, [(1, "b", SECOND), (2, "b", SECOND)])
    message = project.fail("run")
    assert message.count("would exceed 2147483647, the largest int. No row was written. Remedy: ") == len(models)
    assert {name: project.version(name) for name in models} == versions
    project.load("numbered", ddl, [(1, "a", THIRD), (2, "b", THIRD)])
    project.succeed("run")
    for name in models:
        assert project.sql(f"select max({name[4:]}_sk) as newest from {{schema}}.{name}")[0].newest == 2147483647
    # What needs no key is loaded.
    project.load("numbered", ddl, [(1, "a", FOURTH)])
    for name, result in project.succeed("run").items():
        assert result.message.startswith("MERGE 0 opened, 0 closed, 1 deleted"), name


def test_a_share_of_deletions_that_is_allowed_is_not_rounded_up(make_project) -> None:
    """The product of 0.29 and 100 is less than 29."""
    project = make_project(
        {
            f"models/dim_{plan}.sql": model("extract", f"max_delete_fraction=0.29, merge_plan='{plan}'")
            for plan in ("staged", "three_clause")
        }
    )
    project.load("extract", DDL, [(key, "a", FIRST) for key in range(100)])
    project.succeed("run")
    project.load("extract", DDL, [(key, "a", SECOND) for key in range(28)])
    assert project.fail("run").count("would delete 72 of 100 live keys") == 2
    project.load("extract", DDL, [(key, "a", SECOND) for key in range(71)])
    project.succeed("run")
    # An extract that was applied is skipped, however few rows it has; a new one must have enough.
    for plan in ("staged", "three_clause"):
        project.write({f"models/dim_{plan}.sql": model("extract", f"min_rows=90, merge_plan='{plan}'")})
    assert {r.message for r in project.succeed("run").values()} == {"UNCHANGED"}
    project.load(
        "extract", DDL, [*[(key, "a", SECOND) for key in range(71)], *[(key, "a", THIRD) for key in range(90)]]
    )
    project.succeed("run")
    project.load("extract", DDL, [(key, "a", FOURTH) for key in range(89)])
    assert project.fail("run").count("has 89 row(s), fewer than `min_rows` (90)") == 2


def test_a_column_may_be_named_like_an_option_that_is_not_set(make_project) -> None:
    named = "{{ config(materialized='scd2', unique_key='id') }} select 1 as id, 5 as `none`, 'x' as true_"
    project = make_project({"models/dim_none.sql": named})
    project.succeed("run")
    assert tuples(project.sql("select id, `none` from {schema}.dim_none")) == [(1, 5)]


def test_fields_of_a_struct_may_have_any_name(make_project, profile_setting) -> None:
    """Where Spark prints a type, it shortens it by a setting, and quotes no name."""
    query = """
    {{ config(
        materialized='scd2', unique_key='id', tblproperties={'delta.columnMapping.mode': 'name'}
    ) }}
    select 1 as id, named_struct(
        'a,b', {{ var('load', 1) }}, 'c<d', array(named_struct('e"f', 'x', 'g>h', map('k', 1.50BD))),
        'i`j', date '2024-01-01', "k'l", cast('ab' as char(3)), 'm:n', true, 'o p', parse_json('1') is null
    ) as w
    """
    project = make_project({"models/dim_named.sql": query})
    with profile_setting("spark.sql.debug.maxToStringFields", "1"):
        for load in (1, 2, 2):
            project.succeed("run", "--vars", f"load: {load}")
    found = project.sql("select w.`a,b` as ab, w.`c<d`[0].`g>h`['k'] as gh from {schema}.dim_named order by ab")
    assert [(row.ab, str(row.gh)) for row in found] == [(1, "1.50"), (2, "1.50")]
