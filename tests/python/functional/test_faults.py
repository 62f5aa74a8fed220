"""What goes wrong around a load stops it with a sentence and writes nothing; once it is fixed, nothing is lost."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from dbt import tracking
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.session import Cursor

from harness import INVARIANTS, DbtProject, session, tuples

DDL = "id int, value string, extracted_at timestamp"
EXTRACTS = [
    [(key, f"v{key}", datetime(2024, 1, 1)) for key in range(1, 31)],
    [(key, f"v{key}" if key % 3 else "new", datetime(2024, 1, 2)) for key in range(2, 32)],
]
HISTORY = """
select id, value, effective_from, effective_to, is_current, is_deleted
from {schema}.<table>
order by id, effective_from
"""

CONFIG = "{{ config(materialized='scd2', <options>) }}\n"
DATED = "unique_key='id', effective_at='extracted_at'"
OF_EVENTS = f"{DATED}, source_kind='changelog', change_type='kind'"
TABLE = "{{ target.schema }}.extract"
FILE = "{{ invocation_args_dict.project_dir }}/extract"
CAST = "cast(id as int) as id, value, cast(extracted_at as timestamp) as extracted_at"
# name: (configuration, query)
MODELS = {
    "dim_unharmed": (DATED, f"select * from {TABLE}"),
    "dim_full_disk": (DATED, f"select * from {TABLE}"),
    "dim_lost": (DATED, f"select * from {TABLE}"),
    "dim_lost_events": (OF_EVENTS, f"select *, 'update' as kind from {TABLE}"),
    "dim_duplicates": (DATED, f"select * from {TABLE}_doubled"),
    "dim_wrong_type": (
        DATED,
        f"select {{{{ delta_scd2.strict_cast('id', 'int') }}}} as id, value, extracted_at from {TABLE}_text",
    ),
    "dim_cut_off": (DATED, f"select {CAST} from parquet.`{FILE}.parquet`"),
    "dim_headers": (DATED, f"select {CAST} from csv.`{FILE}.csv` with (header = 'true')"),
    "dim_two_current": (DATED, f"select * from {TABLE}"),
    "dim_two_kept": (f"{DATED}, hard_deletes='ignore'", f"select * from {TABLE}"),
    # With the second extract comes a late row of each key.
    "dim_version_twice": (
        f"{DATED}, source_kind='increment'",
        f"""
        select * from {TABLE}
        union all
        select id, 'late' as value, extracted_at - interval 36 hours as extracted_at
        from {TABLE}
        where extracted_at > timestamp '2024-01-01 12:00:00+00:00'""",
    ),
    "dim_own_column": (DATED, f"select * from {TABLE}"),
    "dim_clock": ("unique_key='id'", f"select id, value from {TABLE}"),
    "dim_clock_increment": ("unique_key='id', source_kind='increment'", f"select id, value from {TABLE}"),
    "dim_spaced": ("unique_key='the id'", f"select id as `the id`, value as `a;b` from {TABLE}"),
    "dim_odd": (
        "unique_key=['the id', 'select'], effective_at='from', tblproperties={'delta.columnMapping.mode': 'name'}, "
        """flag_values=["isn't", "' or 1 = 1 --\\\\"], """
        """scd2_columns={'surrogate_key': "s'k", 'is_current': 'is `now`'}""",
        rf"""
        select
            id as `the id`, 'k\'; drop table x; --' as `select`, concat('\\', value, '\'"') as `größe.1`,
            extracted_at as `from`
        from {TABLE}
        where id between 2 and 3""",
    ),
}
# Those whose history is not that of the extracts.
OTHER_HISTORIES = [
    "dim_lost_events", "dim_two_kept", "dim_version_twice", "dim_clock", "dim_clock_increment", "dim_spaced", "dim_odd",
]  # fmt: skip
# What the run says of each that is broken.
CLOCK = ["this run began at", "by the clock of this machine", "correct the clock, or run again after that time"]
SAID = {
    "dim_full_disk": ["File too large"],
    "dim_lost": ["the catalog knows no table", ".db/dim_lost.", "`dbt run-operation register_tables`"],
    "dim_lost_events": ["the catalog knows no table", ".db/dim_lost_events.", "`dbt run-operation register_tables`"],
    "dim_duplicates": ["30 row(s) that repeat", "; ".join(f"id {key}" for key in range(10, 20)) + "."],
    "dim_wrong_type": ["cannot cast id to int: 7 pieces"],
    "dim_cut_off": ["FAILED_TO_CREATE_PLAN_FOR_DIRECT_QUERY", "parquet"],
    "dim_headers": ["UNRESOLVED_COLUMN", "`value0`, `value1`"],
    "dim_two_current": [
        "two current versions of one key",
        ": id 6; id 7; id 9.",
        "`describe history",
        "`restore table`",
    ],
    "dim_two_kept": ["two current versions of one key", ": id 6.", "`describe history"],
    "dim_version_twice": ["holds a version twice", ": id 6.", "`describe history"],
    "dim_clock": CLOCK,
    "dim_clock_increment": CLOCK,
    "dim_spaced": [
        "2 mistake(s)",
        "the column `the id` has a character",
        "the column `a;b`",
        "delta.columnMapping.mode: name",
    ],
}


def bring(project: DbtProject, rows: Sequence[tuple]) -> Path:
    """The extract in tables, as CSV and as Parquet; the path of the one file of the last."""
    project.load("extract", DDL, rows)
    project.load("extract_doubled", DDL, rows)
    project.load("extract_text", DDL.replace("int", "string"), [(str(key), *rest) for key, *rest in rows])
    lines = [f"{key},{value},{ts}+00:00" for key, value, ts in rows]
    project.write({"extract.csv": "\n".join(["id,value,extracted_at", *lines, ""])})
    directory = project.directory / "extract.parquet"
    session().createDataFrame(rows, DDL).coalesce(1).write.mode("overwrite").parquet(str(directory))
    return next(directory.glob("*.parquet"))


def lose(project: DbtProject, table: str, keep: Path) -> None:
    """Let the catalog forget a table whose files remain."""
    location = Path(project.sql(f"describe detail {{schema}}.{table}")[0].location.removeprefix("file:"))
    shutil.copytree(location, keep / table)
    project.sql(f"drop table {{schema}}.{table}")
    shutil.copytree(keep / table, location)


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """Let Spark write no more than a byte to a file while it executes one statement."""
    java = session().sparkContext._gateway.proc.pid
    execute = Cursor.execute

    def limited(cursor: Cursor, sql: str, *parameters: object) -> None:
        soft, hard = resource.prlimit(java, resource.RLIMIT_FSIZE)
        try:
            if statement in sql:
                resource.prlimit(java, resource.RLIMIT_FSIZE, (1, hard))
            execute(cursor, sql, *parameters)
        finally:
            resource.prlimit(java, resource.RLIMIT_FSIZE, (soft, hard))

    monkeypatch.setattr(Cursor, "execute", limited)


def turn_the_clock_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) - timedelta(hours=1)

    monkeypatch.setattr(tracking, "datetime", Clock)


def damage(project: DbtProject, keep: Path) -> None:
    """Bring the second extract, and break what each dimension is named for."""
    parquet = bring(project, EXTRACTS[1])
    parquet.write_bytes(parquet.read_bytes()[:-100])
    csv = project.directory / "extract.csv"
    csv.write_text(csv.read_text().replace("id,value", "value,value", 1))
    project.load("extract_doubled", DDL, EXTRACTS[1] * 2)
    project.sql("insert into {schema}.extract_text values ('7 pieces', 'v7', timestamp '2024-01-02 00:00:00+00:00')")
    for table in ("dim_lost", "dim_lost_events", "dim_lost_events__events"):
        lose(project, table, keep)
    twice = "insert into {schema}.dim_two_current by name select * except (effective_from), <from> as effective_from "
    for key, ts in ((6, "effective_from"), (7, "effective_from"), (9, "timestamp '2023-12-31 00:00:00+00:00'")):
        project.sql(twice.replace("<from>", ts) + f"from {{schema}}.dim_two_current where id = {key}")
    for table in ("dim_two_kept", "dim_version_twice"):
        project.sql(f"insert into {{schema}}.{table} select * from {{schema}}.{table} where id in (6, 7)")
    project.sql("alter table {schema}.dim_own_column add columns (note string)")
    project.sql("update {schema}.dim_own_column set note = 'mine' where id in (5, 6)")


def fix(project: DbtProject) -> None:
    bring(project, EXTRACTS[1])
    for table in ("dim_two_current", "dim_two_kept", "dim_version_twice"):
        project.sql(f"restore table {{schema}}.{table} to version as of 0")
    assert project.dbt("run-operation", "register_tables").success


def history(project: DbtProject, table: str) -> list[tuple]:
    return tuples(project.sql(HISTORY.replace("<table>", table)))


@pytest.fixture
def project(make_project) -> DbtProject:
    files = {
        f"models/{name}.sql": CONFIG.replace("<options>", options) + query for name, (options, query) in MODELS.items()
    }
    tested = ("dim_unharmed", "dim_lost_events", "dim_odd")
    tests = "".join(f"  - {{name: {name}, data_tests: {INVARIANTS}}}\n" for name in tested)
    # As a project has it that reads what another one builds.
    again = "sources: [{name: again, schema: '{{ target.schema }}', tables: [{name: dim_lost}]}]"
    project = make_project({
        **files, "models/schema.yml": f"version: 2\nmodels:\n{tests}", "models/sources.yml": again
    })  # fmt: skip
    bring(project, EXTRACTS[0])
    project.succeed("run", "--exclude", "dim_spaced")
    return project


def test_a_fault_is_told_before_anything_is_written(
    project: DbtProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(project, tmp_path)
    known = [name for name in SAID if name not in ("dim_lost", "dim_lost_events", "dim_spaced")]
    before = {name: project.version(name) for name in known}
    fill_the_disk(monkeypatch, f"merge into {project.schema}.dim_full_disk ")
    turn_the_clock_back(monkeypatch)
    results = project.dbt("run", "--threads", "1").result.results
    monkeypatch.undo()
    messages = {r.node.name: str(r.message) for r in results if r.status == "error"}
    assert messages.keys() == SAID.keys()
    for name, parts in SAID.items():
        for part in parts:
            assert part in messages[name]
    assert {name: project.version(name) for name in known} == before
    assert project.sql("show tables in {schema} like 'dim_spaced'") == []


@pytest.mark.slow
def test_what_is_mended_goes_on_as_if_nothing_had_been(
    project: DbtProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], time_zone
) -> None:
    damage(project, tmp_path)
    fill_the_disk(monkeypatch, f"merge into {project.schema}.dim_full_disk ")
    turn_the_clock_back(monkeypatch)
    assert not project.dbt("run", "--threads", "1").success
    monkeypatch.undo()

    fix(project)
    printed = capsys.readouterr().out
    for table in ("dim_lost", "dim_lost_events", "dim_lost_events__events"):
        assert f"registered {project.schema}.{table} at " in printed
    assert "3 table(s) registered." in printed
    with time_zone("America/Lima"):
        project.succeed("build", "--exclude", "dim_spaced")

    expected = history(project, "dim_unharmed")
    assert len(expected) == 41
    for name in MODELS:
        if name not in OTHER_HISTORIES:
            assert history(project, name) == expected, name
    # Events delete nothing; a key that an extract lacks stays.
    assert [row for row in history(project, "dim_lost_events") if row[0] != 1] == [
        row for row in expected if row[0] != 1
    ]
    assert project.sql("select count(*) as events from {schema}.dim_lost_events__events")[0].events == 60
    by_clock = [(*row[:2], *row[4:]) for row in history(project, "dim_clock")]
    assert by_clock == [(*row[:2], *row[4:]) for row in expected]
    assert project.version("dim_lost") > 1

    notes = tuples(
        project.sql("select id, value, note from {schema}.dim_own_column where id in (5, 6) order by id, value desc")
    )
    assert notes == [(5, "v5", "mine"), (6, "v6", "mine"), (6, "new", None)]
    odd = project.sql(
        "select `the id`, `select`, `größe.1`, `is ``now```, is_deleted from {schema}.dim_odd order by 1, 3 desc"
    )
    yes, no, key = "isn't", "' or 1 = 1 --\\", "k'; drop table x; --"
    assert tuples(odd) == [(2, key, "\\v2'\"", yes, no), (3, key, "\\v3'\"", no, no), (3, key, "\\new'\"", yes, no)]


def test_a_table_that_dbt_does_not_find_is_not_begun_anew(make_project, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project({"models/dim_found.sql": CONFIG.replace("<options>", DATED) + f"select * from {TABLE}"})
    project.load("extract", DDL, EXTRACTS[0])
    project.succeed("run")
    project.load("extract", DDL, EXTRACTS[1])
    with monkeypatch.context() as patch:
        # What dbt-spark returns where a table of the schema is dropped while it lists them.
        patch.setattr(SparkAdapter, "list_relations_without_caching", lambda *_: [])
        message = project.fail("run")
    assert "dim_found exists, but dbt did not find it" in message
    assert "run this model again" in message
    assert project.succeed("run")["dim_found"].message == "MERGE 11 opened, 10 closed, 1 deleted"


def test_a_lost_table_is_found_in_a_schema_with_capitals_and_a_place_of_its_own(make_project, tmp_path: Path) -> None:
    project = make_project(
        {"models/dim_people.sql": CONFIG.replace("<options>", "unique_key='id', schema='Shop'") + "select 1 as id"}
    )
    project.sql(f"create schema {{schema}}_Shop location '{tmp_path / 'shop'}'")
    try:
        project.succeed("run")
        shop = "{schema}_shop.dim_people"
        before = project.sql(f"select * from {shop}")
        location = tmp_path / "shop" / "dim_people"
        shutil.copytree(location, tmp_path / "kept")
        project.sql(f"drop table {shop}")
        shutil.copytree(tmp_path / "kept", location)
        assert "the catalog knows no table" in project.fail("run")
        assert project.dbt("run-operation", "register_tables").success
        project.succeed("run")
        assert project.sql(f"select * from {shop}") == before
    finally:
        project.sql("drop schema {schema}_shop cascade")
