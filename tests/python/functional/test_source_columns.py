"""What a column of a source carries beside its values (lengths, defaults, comments) stays with the source."""

from __future__ import annotations

import pytest

from harness import DbtProject, tuples

# The columns of a Silver table; each text is longer in the next batch.
COLUMNS = {
    "code": "char(4)",
    "name": "varchar(4) comment 'as printed'",
    "size": "int default 7 comment 'in cm'",
    "day": "date default current_date()",
    "payload": "struct<x: char(4), y: int comment 'within'>",
    "note": "struct<x: varchar(3)>",
    "deep": "struct<x: struct<y: array<varchar(3)>>>",
    "list": "array<char(4)>",
    "words": "array<varchar(3)>",
    "pairs": "map<varchar(3), char(4)>",
    "rows": "array<struct<x: varchar(3), y: map<string, varchar(3)>>>",
    "rate": "decimal(5, 2) not null comment 'per day'",
    "plain": "string comment 'as it came'",
    "moment": "timestamp default current_timestamp()",
}
TABLE = "using delta tblproperties ('delta.feature.allowColumnDefaults' = 'supported')"


def batch(number: int) -> list[str]:
    """The values of one row, whose texts have one letter more than those of the row before."""
    text = f"'{'abcd'[: number + 2]}'"
    return [
        text, text, str(number), f"date '2024-01-0{number}'", f"named_struct('x', {text}, 'y', {number})",
        f"named_struct('x', {text})", f"named_struct('x', named_struct('y', array({text})))", f"array({text})",
        f"array({text})", f"map({text}, {text})", f"array(named_struct('x', {text}, 'y', map('k', {text})))",
        f"{number}.5", text, f"timestamp '2024-01-0{number} 00:00:00'",
    ]  # fmt: skip


ROWS = "{{ source('silver', 'limited') }}"
DATED = "materialized='scd2', unique_key='id', effective_at='at'"
LOGGED = "select *, 'U' as _change_type, 1 as _change_ordinal from {{ source('silver', 'limited') }}"
SQL = {
    "dim_extract": f"{{{{ config({DATED}, ignore_columns=['name']) }}}} select * from {ROWS}",
    "dim_by_key": f"{{{{ config({DATED.replace('id', 'code')}, max_delete_fraction=1) }}}}"
    f" select * except (pairs) from {ROWS}",
    "dim_increment": f"{{{{ config({DATED}, source_kind='increment', overwrite_columns=['name']) }}}}"
    f" select * from {ROWS}",
    "dim_events": f"{{{{ config({DATED}, source_kind='changelog', sequence_by='size') }}}}"
    f" select *, 'U' as _change_type from {ROWS}",
    "dim_joined": f"{{{{ config({DATED}) }}}} select a.*, b.name as other from {{{{ ref('viewed') }}}} as a"
    " left join {{ ref('viewed') }} as b using (id)",
    "copy_sql": f"{{{{ config(materialized='scd1', unique_key='id') }}}} {LOGGED}",
    "viewed": f"{{{{ config(materialized='view') }}}} select * from {ROWS}",
    "table_sql": f"{{{{ config(materialized='table') }}}} select * from {ROWS};",
    "merged_sql": "{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge') }}"
    " select a.* from {{ ref('viewed') }} as a",
    "appended_sql": f"{{{{ config(materialized='incremental') }}}} select * from {ROWS}",
}
PY = """
def model(dbt, session):
    dbt.config({config})
    frame = dbt.source("silver", "limited")
    return frame{columns}
"""
PYTHON = {
    "dim_py": ('materialized="scd2", unique_key="id", effective_at="at"', ""),
    "copy_py": (
        'materialized="scd1", unique_key="id"',
        ".selectExpr('*', \"'U' as _change_type\", '1 as _change_ordinal')",
    ),
    "table_py": ('materialized="table"', ""),
    "merged_py": ('materialized="incremental", unique_key="id", incremental_strategy="merge"', ""),
}
SNAPSHOT = f"""
{{% snapshot snap %}}
{{{{ config(strategy='timestamp', unique_key='id', updated_at='at') }}}}
select * from {ROWS}
{{% endsnapshot %}}
"""
SOURCES = 'version: 2\nsources: [{name: silver, schema: "{{ target.schema }}", tables: [{name: limited}]}]\n'
TABLES = [name for name in (*SQL, *PYTHON) if name != "viewed"] + ["dim_events__events", "snap"]


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    files = {f"models/{name}.sql": text for name, text in SQL.items()}
    files |= {
        f"models/{name}.py": PY.format(config=config, columns=columns) for name, (config, columns) in PYTHON.items()
    }
    project = make_project({**files, "models/sources.yml": SOURCES, "snapshots/snap.sql": SNAPSHOT})
    project.sql("create schema if not exists {schema}")
    for number in (1, 2):
        columns = ", ".join(f"{name} {ddl}" for name, ddl in COLUMNS.items())
        # The source grows: three characters, then four, but for those that Spark fills up.
        columns = columns.replace("(3)", f"({number + 2})")
        project.sql(f"create or replace table {{schema}}.limited (id int, {columns}, at timestamp) {TABLE}")
        values = ", ".join(batch(number))
        project.sql(f"insert into {{schema}}.limited values (1, {values}, timestamp '2024-02-0{number} 00:00:00')")
        project.succeed("build")
    return project


@pytest.mark.parametrize("table", TABLES)
def test_no_table_takes_over_lengths_or_defaults(project: DbtProject, spark, table: str) -> None:
    fields = spark.table(f"{project.schema}.{table}").schema
    carried = {field.name: field.metadata for field in fields if set(field.metadata) - {"comment"}}
    assert carried == {}
    if table in ("dim_extract", "table_py"):
        # What comes later may be longer still, where nothing of the kind is carried.
        project.sql(f"update {{schema}}.{table} set plain = 'longer than all', name = 'longer than all'")


@pytest.mark.parametrize("table", TABLES)
def test_longer_values_are_loaded(project: DbtProject, table: str) -> None:
    columns = [name for name in COLUMNS if (table, name) not in {("dim_by_key", "pairs"), ("dim_events", "size")}]
    columns = [name for name in columns if name not in ("name", "plain")]
    newest = f"select {', '.join(columns)} from {{schema}}.{table} where code = 'abcd'"
    given = f"select {', '.join(columns)} from {{schema}}.limited"
    assert project.sql(newest) == project.sql(given)


def test_comments_go_where_nothing_else_hangs_on_them(project: DbtProject) -> None:
    # Remembered events are made of names and types.
    for table in set(TABLES) - {"dim_events__events"}:
        comments = {row.col_name: row.comment for row in project.sql(f"describe {{schema}}.{table}")}
        assert (comments["rate"], comments["plain"]) == ("per day", "as it came"), table


def test_what_carries_nothing_is_read_as_it_is_written(project: DbtProject, statements: list[str]) -> None:
    project.write({"models/bare.sql": "{{ config(materialized='table') }}\nselect 1 as id, 'a' as name"})
    project.succeed("run", "--select", "bare")
    assert [sql for sql in statements if "create or replace table" in sql and "select 1 as id, 'a' as name" in sql]
    assert not [sql for sql in statements if "is null, null" in sql]
    assert tuples(project.sql("select * from {schema}.bare")) == [(1, "a")]


PADDED = {
    "dim_extract.sql": f"{{{{ config({DATED.replace('id', 'code')}) }}}} select <code>, part, at from <padded>",
    "dim_events.sql": f"{{{{ config({DATED}, source_kind='changelog', ignore_columns='part') }}}}"
    " select 1 as id, <code>, part, at, 'U' as _change_type from <padded>",
    "dim_ignored.sql": f"{{{{ config({DATED}, ignore_columns=['code', 'part']) }}}} select 1 as id, * from <padded>",
    "copy_sql.sql": "{{ config(materialized='scd1', unique_key='code') }} select <code>, part, at,"
    " 'U' as _change_type, 1 as _change_ordinal from <padded>",
    "dim_py.py": """
def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="code", effective_at="at", source_kind="increment")
    return session.table("<padded>").selectExpr("<code>", "part", "at")
""",
}


def test_texts_that_spark_fills_up_to_another_length_are_refused(make_project) -> None:
    """Each value would differ from the one that is stored, and each key be another one."""
    project: DbtProject = make_project({})
    project.sql("create schema if not exists {schema}")

    def run(day: int, length: int, part: int, code: str = "code") -> dict[str, str]:
        columns = f"code char({length}), part struct<x: char({part})>, at timestamp"
        project.sql(f"create or replace table {{schema}}.padded ({columns}) using delta")
        values = f"'ab', named_struct('x', 'a'), timestamp '2024-02-0{day} 00:00:00'"
        project.sql(f"insert into {{schema}}.padded values ({values})")
        for name, text in PADDED.items():
            text = text.replace("<code>", code).replace("<padded>", f"{project.schema}.padded")
            project.write({f"models/{name}": text})
        results = project.dbt("run").result.results
        return {r.node.name: str(r.message) for r in results if r.status != "success"}

    assert run(1, 5, 5) == {}
    refused = run(2, 10, 5)
    assert set(refused) == {"dim_extract", "dim_events", "dim_py", "copy_sql"}
    for name, message in refused.items():
        remedy = "rpad(rtrim(`code`), greatest(5, length(rtrim(`code`))), ' ') as `code`"
        assert f"`code` is filled up to 10 characters and was filled up to 5 when {project.schema}.{name}" in message
        assert f"return `{remedy}` in the model" in message
    assert run(2, 10, 5, remedy) == {}
    # What the texts of the struct are filled up to is remembered, too.
    assert set(run(3, 10, 6)) == {"dim_extract", "dim_events", "dim_py", "copy_sql"}
    assert set(run(3, 10, 6, remedy)) == {"dim_extract", "dim_py", "copy_sql"}
    for name in (*refused, "dim_ignored"):
        rows = project.sql(f"select code, part.x as x from {{schema}}.{name}")
        assert tuples(rows) == [("ab   ", "a    ")], name
