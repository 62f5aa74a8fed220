"""What a copy refuses or leaves alone: partial runs, partitions by timestamps, and names that a feed gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from textwrap import dedent

import pytest
from pyspark.sql import SparkSession

from delta_scd2 import apply_changelog, latest_changes
from harness import DbtProject, tuples

DDL = "id int, value string, at timestamp, _change_type string, _commit_version bigint"
AT = datetime(2024, 10, 27, 1, 30)
MODELS = {
    "sampled": "unique_key='id'",
    "parted": "unique_key='id', change_ordinal='_commit_version', partition_by='at'",
    "audited": "unique_key=['id', '_commit_version']",
    "crowded": "unique_key='id'",
}
MODEL = "{{{{ config(materialized='scd1', {}) }}}}\nselect * from {{{{ target.schema }}}}.log"


@pytest.fixture(scope="module")
def project(make_project: Callable[..., DbtProject]) -> DbtProject:
    files = {f"models/{name}.sql": MODEL.format(text) for name, text in MODELS.items()}
    files["models/crowded.sql"] += "{{ ' cross join (select 1 as crowded_commit_version)' if var('second', false) }}"
    project = make_project(files)
    load(project, (1, "a", AT, "I", 1), (2, "a", AT, "I", 1))
    return project


def load(project: DbtProject, *changes: tuple) -> None:
    project.load("log", DDL, changes)


def rows(project: DbtProject, table: str, columns: str = "id, value") -> list[tuple]:
    return tuples(project.sql(f"select {columns} from {{schema}}.{table} order by all"))


def test_a_partial_run_changes_no_copy_and_a_whole_one_replaces_a_sample(project: DbtProject) -> None:
    sample = ("--sample", "3 days")
    project.succeed("run", "--select", "sampled", *sample)
    load(project, (1, "b", AT, "U", 2))
    for options in (sample, ["--empty"]):
        message = project.succeed("run", "--select", "sampled", *options)["sampled"].message
        assert message == "SKIP a partial run changes no copy"
    assert rows(project, "sampled") == [(1, "a"), (2, "a")]
    project.succeed("run", "--select", "sampled")
    assert rows(project, "sampled") == [(1, "b")]
    load(project, (2, "c", AT, "U", 3))
    project.succeed("run", "--select", "sampled")
    assert rows(project, "sampled") == [(1, "b"), (2, "c")]


def test_a_timestamp_that_partitions_a_copy_needs_utc(
    project: DbtProject, spark: SparkSession, time_zone: Callable[[str], AbstractContextManager[None]]
) -> None:
    refused = "timestamp `at` is a partition column of"
    load(project, (1, "a", AT, "I", 1))
    with time_zone("Europe/Zurich"):
        assert refused in project.fail("run", "--select", "parted")
    assert "parted" not in project.relations()
    project.succeed("run", "--select", "parted")
    load(project, (1, "b", AT, "U", 2))
    with time_zone("Europe/Zurich"):
        assert refused in project.fail("run", "--select", "parted")
        spark.conf.set("spark.sql.session.timeZone", "Europe/Zurich")
        with pytest.raises(ValueError, match=refused):
            apply_changelog(
                spark, f"{project.schema}.parted", spark.table(f"{project.schema}.log"), "id",
                change_ordinal="_commit_version",
            )  # fmt: skip
    assert project.version("parted") == 0


def test_a_key_may_have_a_column_of_a_feed(project: DbtProject) -> None:
    load(project, (1, "a", AT, "I", 1), (1, "b", AT, "U", 2))
    project.succeed("run", "--select", "audited")
    load(project, (1, "c", AT, "U", 2), (1, None, None, "D", 1))
    project.succeed("run", "--select", "audited")
    assert rows(project, "audited", "id, audited_commit_version, value") == [(1, 2, "c")]


def test_a_column_in_the_way_is_refused_at_every_load(project: DbtProject) -> None:
    load(project, (1, "a", AT, "I", 1))
    project.succeed("run", "--select", "crowded")
    message = project.fail("run", "--select", "crowded", "--vars", "second: true")
    assert "the column `crowded_commit_version`, the name under which its `_commit_version` is stored" in message


# A change with an ordinal, and one without.
ORDERED_BY = """
    {{ config(materialized='scd1', unique_key='id') }}
    with changes as (
        select *
        from values (1, 'old', 'I', %s), (1, 'new', 'U', %s) as c(id, value, _change_type, _change_ordinal)
    )
    {{ delta_scd2.latest_changes('changes', 'id') }}
"""
COPIES = {
    "null_ordinal.sql": ORDERED_BY % (5, "null"),
    "null_fields.sql": ORDERED_BY % ("struct(5 as lsn, 1 as tx)", "struct(null as lsn, null as tx)"),
    "null_nested.sql": ORDERED_BY
    % ("struct(struct(5 as lsn, 1 as tx) as source)", "struct(struct(null as lsn, null as tx) as source)"),
    "timed.sql": """
        {{ config(
            materialized='scd1', unique_key='id', change_ordinal='_commit_version',
            event_time='timed_commit_timestamp'
        ) }}
        select 1 as id, 'U' as _change_type, 1L as _commit_version, timestamp '2024-01-01' as _commit_timestamp
    """,
    "mistimed.sql": """
        {{ config(
            materialized='scd1', unique_key='id', change_ordinal='_commit_version', event_time='_commit_timestamp'
        ) }}
        select 1 as id, 'U' as _change_type, 1L as _commit_version, timestamp '2024-01-01' as _commit_timestamp
    """,
    # The table keeps the mapping of its columns when the model names it no longer.
    "spaced.sql": """
        {{ config(
            materialized='scd1', unique_key='the id',
            tblproperties={} if var('second', false) else {'delta.columnMapping.mode': 'name'}
        ) }}
        select 1 as `the id`, 'U' as _change_type {{ ', 1 as _change_ordinal' if var('second', false) }}
    """,
    "remembering.py": '''
        def changelog(session):
            """Unlike changelog() of the package, with ordinals."""
            return session.sql("select 1 as id, 'U' as _change_type, 1 as _change_ordinal")


        def model(dbt, session):
            dbt.config(materialized="scd1", unique_key="id")
            return changelog(session)
    ''',
    "imported.py": """
        import sys
        from types import SimpleNamespace

        ORDERED = "select 1 as id, 'U' as _change_type, 1 as _change_ordinal"
        sys.modules["feeds_of_the_shop"] = SimpleNamespace(changelog=lambda session: session.sql(ORDERED))
        from feeds_of_the_shop import (
            changelog,
        )


        def model(dbt, session):
            dbt.config(materialized="scd1", unique_key="id")
            return changelog(session)
    """,
    "qualified.py": """
        import sys
        from types import SimpleNamespace

        ORDERED = "select 1 as id, 'U' as _change_type, 1 as _change_ordinal"
        sys.modules["feeds_of_the_house"] = SimpleNamespace(changelog=lambda session: session.sql(ORDERED))
        import feeds_of_the_house


        def model(dbt, session):
            dbt.config(materialized="scd1", unique_key="id")
            return feeds_of_the_house.changelog(session)
    """,
    "documented.py": '''
        """Not what
        changelog() of the package returns.
        """


        def model(dbt, session):
            dbt.config(materialized="scd1", unique_key="id")
            return session.sql("select 1 as id, 'U' as _change_type, 1 as _change_ordinal")
    ''',
}


def test_copies_of_changes_as_models_bring_them(make_project, profile_setting) -> None:
    files = {f"models/{name}": dedent(text) for name, text in COPIES.items()}
    project = make_project(files)
    for second in (False, True):
        # Under this setting, a text in double quotes would be a name.
        with profile_setting("spark.sql.ansi.doubleQuotedIdentifiers", "true"):
            results = project.dbt("run", "--vars", f"second: {str(second).lower()}").result.results
        messages = {run.node.name: str(run.message) for run in results if run.status == "error"}
        assert messages.keys() == {"null_ordinal", "null_fields", "null_nested", "mistimed"}
        for name in ("null_ordinal", "null_fields", "null_nested"):
            assert f"{name}: a change has no `_change_ordinal`, by which" in messages[name]
        assert (
            "`event_time` names the column `_commit_timestamp`, which the table does not have" in messages["mistimed"]
        )
    for name in ("spaced", "remembering", "imported", "qualified", "documented", "timed"):
        assert len(rows(project, f"{name}__ordinals", "*")) == 1


def test_a_change_without_an_ordinal_is_refused_in_python(spark: SparkSession) -> None:
    changes = spark.sql(
        "select * from values (1, 'old', 'I', 5), (1, 'new', 'U', null) as c(id, value, _change_type, _change_ordinal)"
    )
    fields = "struct(_change_ordinal as lsn, cast(null as int) as tx)"
    for ordinal in ("_change_ordinal", fields, f"struct({fields} as source)"):
        ordered = changes.selectExpr("id", "value", "_change_type", f"{ordinal} as _change_ordinal")
        with pytest.raises(Exception, match="a change has no `_change_ordinal`, by which `latest_changes` orders"):
            latest_changes(ordered, "id").collect()
        refilled = latest_changes(ordered.where("value = 'old'"), "id").collect()
        assert [row.value for row in refilled] == ["old"]
    with pytest.raises(ValueError, match="latest_changes has no keys"):
        latest_changes(changes, [])


def test_rows_of_an_update_belong_together_by_their_version(make_project, spark: SparkSession) -> None:
    project = make_project({"models/unordered.sql": MODEL.format("unique_key='id'")})
    load(project, (1, "a", AT, "insert", 1))
    project.succeed("run")
    # Key 1 changes, and becomes key 2 one version later.
    moved = [
        (1, "a", AT, "update_preimage", 2),
        (1, "b", AT, "update_postimage", 2),
        (1, "b", AT, "update_preimage", 3),
        (2, "b", AT, "update_postimage", 3),
    ]
    load(project, *moved)
    duplicate = "duplicate keys detected in changelog dataframe for identifier columns ['id']: id 1"
    assert duplicate in project.fail("run")
    copy = f"{project.schema}.by_hand"
    empty = f"select * except (_change_type) from {project.schema}.log where false"
    project.sql(f"create table {copy} using delta as {empty}")
    with pytest.raises(ValueError, match=re.escape(duplicate)):
        apply_changelog(spark, copy, spark.table(f"{project.schema}.log"), "id")
    # Alone, the row before the update is the deletion of the old key.
    load(project, *moved[2:])
    assert project.succeed("run")["unordered"].message == "MERGE 1 inserted, 0 updated, 1 deleted"
    assert rows(project, "unordered") == [(2, "b")]
