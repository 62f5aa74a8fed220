"""The table beside a copy in which it remembers the ordinals of its changes: begun, lost, pruned, and in the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from dbt.adapters.spark.session import Cursor
from pyspark.sql import SparkSession

from delta_scd2 import apply_changelog, changelog
from harness import STAGES, DbtProject, tuples

DDL = "id int, value string, _change_type string, _change_ordinal bigint"
CONFIG = "{{ config(materialized='scd1', unique_key='id') }}\n"
LOG = "select * from {{ target.schema }}.log"
ORDINAL = "select * except (_change_ordinal), %s as _change_ordinal from {{ target.schema }}.log"
# What each model reads from its second load on.
SECOND = {
    "lost": LOG,
    "foreign": LOG,
    "retyped": ORDINAL % "string(_change_ordinal)",
    "rekeyed": LOG,
    "unordered": "select * except (_change_ordinal) from {{ target.schema }}.log",
    "ranged": "{{ delta_scd2.changelog(target.schema ~ '.fed', 'id') }}",
    "ranged_by_view": "select * from {{ ref('ranges') }}",
    "ranged_by_table": "select * from {{ ref('table_of_ranges') }}",
    "ranged_by_sum": "select * except (_change_ordinal), _change_ordinal + 1 as _change_ordinal from ("
    "{{ delta_scd2.changelog(target.schema ~ '.fed', 'id') }}\n)",
    "appended": "select * from {{ target.schema }}.begun",
    "nulls": ORDINAL % "nullif(_change_ordinal, 2)",
    "in_way": LOG,
    "taken": LOG,
    "mapped": ORDINAL % "map(1, 2)",
    "empty_struct": ORDINAL
    % "struct(nullif(_change_ordinal, 2) as lsn, struct(nullif(_change_ordinal, 2) as at) as tx)",
    "narrowed": LOG,
    "reordered": ORDINAL % "struct(_change_ordinal as tx, _change_ordinal as lsn)",
    "renamed": "select * except (_change_ordinal), _change_ordinal as ms from {{ target.schema }}.log",
}
FIRST = {
    "reordered": ORDINAL % "struct(_change_ordinal as lsn, _change_ordinal as tx)",
    "renamed": "select * except (_change_ordinal), _change_ordinal as lsn from {{ target.schema }}.log",
}
# A copy that remembers would be taken for the memory of another one.
OTHER = "taken__ordinals"
NEW = ["in_way", "taken", "mapped", "empty_struct", "appended"]
REFUSED = {
    "lost": "lost__ordinals, which is not there",
    "foreign": "foreign__ordinals, which belongs to another copy",
    "retyped": "the column `_change_ordinal` is string in the changelog and bigint in",
    "rekeyed": "rekeyed__ordinals lacks the column `value`, which `unique_key` names",
    "unordered": "unordered remembers the ordinals of its changes, and the model returns none in `_change_ordinal`",
    "ranged": "the model returns net changes of a range, which are in no order",
    "ranged_by_view": "the model returns net changes of a range, which are in no order",
    "ranged_by_sum": "the model returns net changes of a range, which are in no order",
    "ranged_by_table": "the model returns net changes of a range, which are in no order",
    "appended": "`_change_ordinal` has the comment `net changes up to version 0`, and later changes follow: id 9.",
    "nulls": "the changelog holds rows with a null in `_change_ordinal`: id 2",
    "in_way": "in_way__ordinals is in the way",
    "taken": "the model `taken__ordinals` makes",
    "mapped": "the column `_change_ordinal` of type map<int,int>, by which changes cannot be ordered",
    "empty_struct": "the changelog holds rows with a null in `_change_ordinal`: id 2",
    "narrowed": "narrowed__ordinals has the key column `value`, which `unique_key` does not name",
    "reordered": "from the column `_change_ordinal struct<lsn:bigint,tx:bigint>`, and the changelog has",
    "renamed": "renamed__ordinals holds ordinals from the column `lsn bigint`, and the changelog has `ms bigint`",
}
RANGED = ["ranged", "ranged_by_view", "ranged_by_table", "ranged_by_sum"]
FORGOTTEN = ["lost", "foreign", "retyped", "rekeyed", "unordered", "narrowed", "reordered", "renamed"]
FORGOTTEN += RANGED
# These are refused before the rows of their memory are read: a copy with a mark is enough.
MARKED = ["lost", "foreign", "unordered", *RANGED]
# These load without their mark; the others differ from them in why they are refused, and would load alike.
LOADED_ANEW = ["lost", "retyped", "unordered", "ranged"]


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject], spark: SparkSession) -> DbtProject:
    files = {
        f"models/{name}.sql": f"{CONFIGS.get(name, CONFIG)}"
        f"{{% if var('second', false) %}}{text}{{% else %}}{FIRST.get(name, LOG)}{{% endif %}}"
        for name, text in SECOND.items()
    }
    files["models/ranges.sql"] = "{{ config(materialized='view') }}" + SECOND["ranged"]
    files["models/table_of_ranges.sql"] = "{{ config(materialized='table') }} select * from {{ ref('ranges') }}"
    files[f"models/{OTHER}.sql"] = CONFIG + LOG
    project = make_project({"models/kept.sql": CONFIG + LOG + "{{ ' where false' if flags.EMPTY }}", **files})
    project.load("log", DDL, [(1, "a", "I", 1), (2, "b", "I", 2)])
    project.sql(
        "create table {schema}.fed using delta tblproperties (delta.enableChangeDataFeed = true)"
        " as select 1 as id, 'z' as value"
    )
    changelog(spark, f"{project.schema}.fed", "id").write.format("delta").saveAsTable(f"{project.schema}.begun")
    project.sql("insert into {schema}.begun values (9, 'later', 'I', 7)")
    return project


CONFIGS = {
    "rekeyed": "{{ config(materialized='scd1', unique_key=['id', 'value'] if var('second', false) else ['id']) }}\n",
    "narrowed": "{{ config(materialized='scd1', unique_key=['id'] if var('second', false) else ['id', 'value']) }}\n",
    "renamed": CONFIG.replace(") }}", ", change_ordinal='ms' if var('second', false) else 'lsn') }}"),
}


def load(project: DbtProject, *changes: tuple[Any, ...]) -> None:
    project.load("log", DDL, changes)


def kept(project: DbtProject, table: str = "kept") -> list[tuple[Any, ...]]:
    return tuples(project.sql(f"select id, value from {{schema}}.{table} order by id"))


def test_a_memory_that_is_not_the_copys_own_is_refused(
    project: DbtProject, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    second = ["--vars", "second: true"]
    project.succeed("run", "--select", *(name for name in SECOND if name not in [*MARKED, *NEW]))
    marked = "create table {{schema}}.{} using delta tblproperties ('scd2.ordinals_id' = '{}') as"
    for name in MARKED:
        project.sql(f"{marked.format(name, 'its own')} select id, value from {{schema}}.log")
    project.sql(f"{marked.format('foreign__ordinals', 'of another')} select 1 as id")
    project.sql("create table {schema}.in_way__ordinals using delta as select 1 as id")
    versions = {name: project.version(name) for name in SECOND if name not in NEW}
    result = project.dbt("run", "--exclude", "kept", *second)
    messages = {node.node.name: node.message for node in result.result.results}
    for name, part in REFUSED.items():
        assert part in messages[name]
        assert "Remedy: " in messages[name] or name in NEW
    assert {name: project.version(name) for name in versions} == versions
    assert not {*NEW} & project.relations()
    assert tuples(project.sql("select * from {schema}.in_way__ordinals")) == [(1,)]

    refused = "lost remembers the ordinals of its changes, and apply_changelog does not"
    target, log = f"{project.schema}.lost", f"{project.schema}.log"
    arguments = f"{{target: {target}, changelog: {log}, keys: id}}"
    assert not project.dbt("run-operation", "apply_changelog", "--args", arguments).success
    assert refused in capsys.readouterr().out
    with pytest.raises(ValueError, match=refused):
        apply_changelog(spark, target, spark.table(log), "id")

    for name in FORGOTTEN:
        assert "unset tblproperties ('scd2.ordinals_id')" in messages[name]
    for name in LOADED_ANEW:
        project.sql(f"alter table {{schema}}.{name} unset tblproperties ('scd2.ordinals_id')")
    (clearing,) = re.findall("`(alter table .*)`", messages["appended"])
    project.sql(clearing.replace("<table>", "{schema}.begun"))
    project.succeed("run", "--select", *LOADED_ANEW, "appended", *second)
    assert kept(project, "ranged") == [(1, "z"), (2, "b")]
    assert kept(project, "appended") == [(1, "z"), (9, "later")]
    assert "appended__ordinals" in project.relations()


def test_what_a_copy_remembers(
    project: DbtProject, before_statement: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A copy that is older than its memory begins to remember with its next load.
    project.sql("create table {schema}.kept using delta as select 1 as id, 'a' as value")
    load(project, (1, "b", "U", 20), (2, "c", "U", 20), (3, "d", "D", 20))
    project.succeed("run", "--select", "kept", "--empty")
    assert project.version("kept") == 0
    project.succeed("run", "--select", "kept")
    load(project, (1, "old", "U", 19), (3, "old", "I", 19))
    assert project.succeed("run", "--select", "kept")["kept"].message == "UNCHANGED 2 older"
    assert kept(project) == [(1, "b"), (2, "c")]

    # The same batch again completes what a run that died did not write.
    load(project, (1, "b", "D", 30), (2, "e", "U", 30))
    before_statement(f"merge into {project.schema}.kept ", "select * from killed")
    assert "killed" in project.fail("run", "--select", "kept")
    monkeypatch.undo()
    assert kept(project) == [(1, "b"), (2, "c")]
    project.succeed("run", "--select", "kept")
    assert kept(project) == [(2, "e")]
    load(project, (1, "old", "U", 29), (2, "old", "D", 29), (4, "f", "U", 5))
    assert (
        project.succeed("run", "--select", "kept")["kept"].message == "MERGE 1 inserted, 0 updated, 0 deleted, 2 older"
    )
    assert kept(project) == [(2, "e"), (4, "f")]

    # A deletion that was pruned is not known any more; the guide has the statement.
    project.sql("delete from {schema}.kept__ordinals where _change_is_deleted and _change_remembered_at < now()")
    load(project, (1, "late", "U", 28), (2, "late", "U", 28))
    project.succeed("run", "--select", "kept")
    assert kept(project) == [(1, "late"), (2, "e"), (4, "f")]

    # Where one ordinal tells two things in two batches, the later batch is right; a deletion is before an insert.
    load(project, (2, "corrected", "U", 30), (4, "f", "D", 5))
    project.succeed("run", "--select", "kept")
    assert kept(project) == [(1, "late"), (2, "corrected"), (4, "f")]


WRITES = ["kept", "kept__ordinals"]
CHANGES = {"older": (1, "older", "U", 4), "newer": (1, "newer", "U", 5), "same": (1, "first", "U", 5)}


@pytest.fixture(scope="module")
def base(project: DbtProject) -> dict[str, int]:
    """The copy and its memory begun anew: the changes of this key are older than what was remembered of it before."""
    load(project, (1, "first", "I", 3))
    project.succeed("run", "--select", "kept", "--full-refresh")
    return {table: project.version(table) for table in WRITES}


def begin(project: DbtProject, base: dict[str, int], change: str) -> None:
    for table in WRITES:
        project.sql(f"restore table {{schema}}.{table} to version as of {base[table]}")
    load(project, CHANGES[change])


def is_write(project: DbtProject, sql: str) -> bool:
    return f"merge into {project.schema}.kept" in sql


@pytest.fixture(scope="module")
def written_by(project: DbtProject, base: dict[str, int]) -> Callable[[str], list[str]]:
    """What the run of a change writes, as the statements that bring each table to where it leaves it."""

    @cache
    def written_by(change: str) -> list[str]:
        begin(project, base, change)
        written: list[str] = []
        execute = Cursor.execute

        def recorded(cursor: Cursor, sql: str, *parameters: object) -> None:
            execute(cursor, sql, *parameters)
            if is_write(project, sql):
                table = next(table for table in WRITES if f"merge into {project.schema}.{table} " in sql)
                written.append(f"restore table {{schema}}.{table} to version as of {project.version(table)}")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Cursor, "execute", recorded)
            project.succeed("run", "--select", "kept")
        return written

    return written_by


def test_ordinals_alone_are_a_commit_to_the_copy_too(project: DbtProject, base: dict[str, int]) -> None:
    # Delta refuses the MERGE of an overlapping run of older changes, which has read the ordinals before.
    begin(project, base, "same")
    assert project.succeed("run", "--select", "kept")["kept"].message == "UNCHANGED"
    version = project.version("kept")
    assert project.sql("describe history {schema}.kept limit 1")[0].operation == "SET TBLPROPERTIES"
    project.succeed("run", "--select", "kept")
    assert project.version("kept") == version


def test_what_another_run_begins_to_remember_is_not_forgotten(
    project: DbtProject, base: dict[str, int], before_statement
) -> None:
    begin(project, base, "older")
    project.sql("alter table {schema}.kept unset tblproperties ('scd2.ordinals_id')")
    version = project.version("kept__ordinals")
    before_statement(
        STAGES.format(schema=project.schema, model="kept", step="rows"),
        f"alter table {project.schema}.kept set tblproperties ('scd2.ordinals_id' = 'of another run')",
    )
    message = project.fail("run", "--select", "kept")
    assert f"{project.schema}.kept changed while this run was reading it.\n  Nothing was written." in message
    assert project.version("kept__ordinals") == version


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [("older", "newer", "newer"), ("newer", "older", "newer"), ("same", "older", "first"), ("older", "same", "first")],
)
def test_of_two_overlapping_runs_the_newer_change_stays(
    project: DbtProject,
    base: dict[str, int],
    written_by: Callable[[str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    ours: str,
    theirs: str,
    expected: str,
) -> None:
    written = written_by(theirs)
    assert written

    # It stands between two of them when ours begins to write; what it overwrites of ours it may not leave.
    execute = Cursor.execute
    for done in range(1, len(written) + 1) if theirs != "older" else [len(written)]:
        begin(project, base, ours)
        waiting = written[:done]

        def overtaken(cursor: Cursor, sql: str, *parameters: object, waiting: list[str] = waiting) -> None:
            while waiting and is_write(project, sql):
                project.sql(waiting.pop(0))
            execute(cursor, sql, *parameters)

        with monkeypatch.context() as patch:
            patch.setattr(Cursor, "execute", overtaken)
            project.succeed("run", "--select", "kept")
        for statement in written[done:]:
            project.sql(statement)
        assert kept(project) == [(1, expected)], f"{done} of {written}"
