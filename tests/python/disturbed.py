"""Tables of every kind that follow one table of people, and what holds for them after a stop or a kill."""

from __future__ import annotations

import json

from harness import INVARIANTS, PROJECT_YML, DbtProject, model_in, tuples

PEOPLE = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key='id', effective_at='_commit_timestamp',
    sequence_by='_commit_version', surrogate_key='sequence', scd2_columns={'surrogate_key': 'sk'}
) }}
select * from ({{ delta_scd2.changes_since_last_run(target.schema ~ '.people') }})
"""
COPY = """
{{ config(materialized='scd1', unique_key='id', change_ordinal='_commit_version') }}
with events as (
    select * except (_commit_timestamp) from table_changes('{{ target.schema }}.people', 1)
)
{{ delta_scd2.latest_changes('events', 'id', change_ordinal='_commit_version') }}
"""
EXTRACT = "materialized='scd2', unique_key='id', scd2_columns={'surrogate_key': 'sk'}"
EVERYONE = ("dim_everyone", "dim_everyone_py")
DIMENSIONS = ("dim_people", *EVERYONE)
LOG = "{{ config(materialized='load_log') }}\n{{ delta_scd2.load_log_sql() }}\n"
FILES = {
    "dbt_project.yml": PROJECT_YML + 'on-run-end: "{{ delta_scd2.log_loads(results) }}"\n',
    "models/dim_people.sql": PEOPLE,
    "models/scd2_loads.sql": LOG,
}
# Of full extracts, one dimension in SQL and one in Python; and a copy that remembers ordinals.
MORE_FILES = {
    **model_in("sql", "dim_everyone", EXTRACT, "select * from {schema}.people"),
    **model_in("python", "dim_everyone_py", EXTRACT, "select * from {schema}.people"),
    "models/copy_people.sql": COPY,
    "models/schema.yml": "models:\n" + "".join(f"- {{name: {n}, data_tests: {INVARIANTS}}}\n" for n in DIMENSIONS),
}


def create_people(project: DbtProject) -> None:
    """The table that all others follow, with its first row."""
    project.sql("create schema if not exists {schema}")
    feed = "using delta tblproperties (delta.enableChangeDataFeed = true)"
    project.sql(f"create table {{schema}}.people (id int, city string) {feed}")
    change(project, 0)


def change(project: DbtProject, number: int) -> None:
    """One commit, with a new row and a change of the row before."""
    project.sql(
        f"merge into {{schema}}.people using (select {number} as id, 'new' as city union all "
        f"select {number - 1}, 'changed' where {number} > 0) as c on people.id = c.id "
        "when matched then update set city = c.city when not matched then insert *"
    )


def commits(project: DbtProject) -> int:
    """How many changes there are."""
    return int(project.sql("select max(id) + 1 from {schema}.people")[0][0])


def expected(commits: int) -> list[tuple]:
    """The versions that this many commits make."""
    rows = []
    for number in range(commits):
        is_last = number == commits - 1
        rows.append((number, "new", number + 1, is_last))
        if not is_last:
            rows.append((number, "changed", number + 2, True))
    return rows


def commits_loaded(project: DbtProject) -> int:
    """How many commits the dimension holds, where its versions, its events and its record hold the same."""
    versions = project.history("dim_people", "id, city, people_commit_version, is_current")
    number = max(row[0] for row in versions) + 1
    assert versions == expected(number)
    assert project.sql("select count(*) from {schema}.dim_people__events")[0][0] == 2 * number - 1
    properties = project.properties("dim_people")
    assert properties["scd2.consumed_version"] == str(number)
    return number


def people(commits: int) -> list[tuple]:
    """The people after this many commits."""
    return [(number, "new" if number == commits - 1 else "changed") for number in range(commits)]


def extracts_loaded(project: DbtProject, dimension: str) -> int:
    """How many commits the newest extract of a dimension holds; there need not have been an extract of every commit."""
    versions = project.history(dimension, "id, city, is_current")
    current = [row[:2] for row in versions if row[2]]
    closed = [row[:2] for row in versions if not row[2]]
    assert current == people(len(current)), dimension
    assert sorted(set(closed)) == closed, dimension
    assert set(closed) <= {(number, "new") for number in range(len(current) - 1)}, dimension
    return len(current)


def copied(project: DbtProject) -> tuple[int, int]:
    """How many commits the copy holds, and how many its ordinals."""
    rows = tuples(project.sql("select id, city from {schema}.copy_people order by id"))
    ordinals = tuples(project.sql("select id, _change_ordinal from {schema}.copy_people__ordinals order by id"))
    assert rows == people(len(rows))
    assert ordinals == [(number, min(number + 2, len(ordinals))) for number in range(len(ordinals))]
    return len(rows), len(ordinals)


def loaded(project: DbtProject) -> dict[str, int]:
    """How many commits each table holds, with what is written beside it."""
    rows, ordinals = copied(project)
    assert rows == ordinals
    return {
        "dim_people": commits_loaded(project),
        **{name: extracts_loaded(project, name) for name in EVERYONE},
        "copy_people": rows,
    }


def check_completed(project: DbtProject) -> None:
    """A run that nothing disturbed loads every commit, logs all loads before it, and leaves nothing to the next."""
    assert set(loaded(project).values()) == {commits(project)}
    assert [unlogged(project, name) for name in DIMENSIONS] == [set()] * len(DIMENSIONS)
    assert project.staged() == []


def unlogged(project: DbtProject, dimension: str = "dim_people") -> set[str]:
    """The runs that committed to a dimension and are not in the load log."""
    signed = {
        json.loads(commit["userMetadata"])["dbt_invocation_id"]
        for commit in project.sql(f"describe history {{schema}}.{dimension}")
        if commit["userMetadata"] and commit["operation"] in ("MERGE", "CREATE OR REPLACE TABLE AS SELECT")
    }
    log = project.sql(f"select invocation_id from {{schema}}.scd2_loads where model = '{dimension}'")
    logged = [row[0] for row in log]
    assert len(logged) == len(set(logged)), "a load is in the log twice"
    return signed - set(logged)
