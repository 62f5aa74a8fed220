"""Types of columns: those that a table learns later, those that no table can hold, and what messages say of them."""

from __future__ import annotations

from datetime import datetime

import pytest

from harness import DbtProject, tuples

DATED = "materialized='scd2', unique_key='id', effective_at='at'"
# Each load brings a later time; from the second on, times without a zone.
NTZ = "timestamp_ntz '2024-10-27 02:30:0{{ var('load', 1) }}'"
GROWING = f"""
select
    1 as id,
    timestamp '2024-01-0{{{{ var('load', 1) }}}}' as at
    {{%- if var('load', 1) > 1 %}},
    {NTZ} as seen,
    named_struct('x', {NTZ}) as parts,
    array({NTZ}) as times
    {{%- endif %}}
"""
WITHOUT_ZONE = {
    "dim_increment": (f"{DATED}, source_kind='increment'", GROWING),
    "dim_events": (f"{DATED}, source_kind='changelog'", f"select *, 'U' as _change_type from ({GROWING})"),
    "dim_ignoring": (f"{DATED}, track_columns='name'", f"select *, at as name from ({GROWING})"),
    "dim_overwriting": (
        f"{DATED}, overwrite_columns=['seen', 'parts', 'times'] if var('load', 1) > 1 else []",
        f"select *, at as name from ({GROWING})",
    ),
}
# A struct of many fields, of which one is new, one gone and one of another type in the next load.
WIDE = """
{%- set shift = 1 if var('load', 1) > 1 else 0 -%}
select
    1 as id,
    timestamp '2024-01-01' as at,
    named_struct(
        'inner', named_struct({% for n in range(300) %}'field_{{ n + shift }}', {{ n }}, {% endfor %}
        'kept', {{ "'text'" if shift else 5 }})
    ) as payload
"""
MANY_FIELDS = """
{{ config(materialized='table') }}
select named_struct({% for n in range(30) %}'field_{{ n }}', {{ n }}, {% endfor %} 'last', <last>) as payload
""".replace("<last>", "{{ 1 if var('load', 1) == 1 else \"timestamp_ntz '2024-01-01'\" }}")
# A copy, and what it remembers, are replaced by tables with times without a zone.
COPY = f"""
{{{{ config(materialized='scd1', unique_key='id') }}}}
select
    *,
    'U' as _change_type,
    {{% if var('load', 1) == 1 %}}1{{% else %}}timestamp_ntz '2024-10-27 02:30:09'{{% endif %}} as _change_ordinal
from ({GROWING})
"""
VOIDS = {
    "tracked": ("", "null as w"),
    "ignored": (", ignore_columns='w'", "null as w"),
    "overwritten": (", overwrite_columns='w'", "null as w"),
    "keyed": ("", "null as w"),
    "within": (", ignore_columns='w'", "named_struct('x', 1, 'y', null) as w"),
    "listed": (", ignore_columns='w'", "array(null) as w"),
    "mapped": (", ignore_columns='w'", "map('k', null) as w"),
}
ROW = "select 1 as id, timestamp '2024-01-01' as at"
UNSTORABLE = {
    "collated": ("select 'a' collate utf8_lcase as w", "Delta stores no collation: cast it in the model to string"),
    "collated_within": (
        "select named_struct('x', 'a' collate utf8_lcase) as w",
        "cast it in the model to struct<x:string>",
    ),
    "lasting": ("select interval 1 day as w", "`w` is interval day, which Delta does not store"),
}
# Fields with the names of types that Delta does not store, as GeoJSON has them.
FEATURE = """
select 1 as id, 'U' as _change_type, timestamp '2024-01-01' as at,
    named_struct('geometry', named_struct('type', 'Point'), 'interval', 5, 'time', 'noon', 'geography', 'none') as w
"""
PYTHON_VOID = """
def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="id", ignore_columns="w")
    return session.sql("select 1 as id, null as w")
"""
PYTHON_TABLE = """
def model(dbt, session):
    dbt.config(materialized="table")
    rows = dbt.ref("table_sql")
    return rows.selectExpr("*", "parse_json('{}') as json") if "seen" in rows.columns else rows
"""
PYTHON_REPEATED = """
def model(dbt, session):
    dbt.config(materialized="{materialized}", unique_key="id")
    return session.sql("select 1 as id, 2 as ID, 'U' as _change_type, 1 as _change_ordinal")
"""
TWICE = """
select * from values (1, 'a', 'x', 'read at 1'), (1, 'a', 'x', 'read at 2'), (2, 'a', 'x', 'b'), (2, 'a', 'x', 'b')
    as rows (id, name, mail, note)
cross join (select timestamp '2024-01-01' as at)
"""
TWICE_CONFIG = "ignore_columns='note', overwrite_columns='mail'"


def scd2(config: str, sql: str) -> str:
    return f"{{{{ config({config}) }}}}\n{sql}"


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    good = {f"models/good/{name}.sql": scd2(*parts) for name, parts in WITHOUT_ZONE.items()}
    bad = {
        f"models/bad/dim_{name}.sql": scd2(
            (DATED if name != "keyed" else DATED.replace("'id'", "['id', 'w']")) + config, f"{ROW}, {column}"
        )
        for name, (config, column) in VOIDS.items()
    }
    for name, (sql, _) in UNSTORABLE.items():
        bad[f"models/bad/dim_{name}.sql"] = scd2(f"{DATED}, ignore_columns='w'", f"{ROW}, w from ({sql})")
        bad[f"models/bad/copy_{name}.sql"] = (
            "{{ config(materialized='scd1', unique_key='id') }}\n"
            f"select 1 as id, 'U' as _change_type, 1 as _change_ordinal, w from ({sql})"
        )
    bad |= {
        "models/bad/dim_void_py.py": PYTHON_VOID,
        "models/bad/dim_repeated_py.py": PYTHON_REPEATED.format(materialized="scd2"),
        "models/bad/copy_repeated_py.py": PYTHON_REPEATED.format(materialized="scd1"),
        "models/bad/dim_repeated.sql": scd2(DATED, f"select * from ({ROW}) as a, ({ROW}) as b"),
        "models/bad/copy_repeated.sql": "{{ config(materialized='scd1', unique_key='id') }} select 1 as id, 2 as ID",
        "models/bad/dim_null.sql": scd2(DATED, ROW.replace("1 as id", "int(null) as id")),
        "models/bad/dim_twice.sql": scd2(f"{DATED}, source_kind='increment', {TWICE_CONFIG}", TWICE),
        "models/bad/dim_events_twice.sql": scd2(
            f"{DATED}, source_kind='changelog', {TWICE_CONFIG}", f"select *, 'U' as _change_type from ({TWICE})"
        ),
        "models/bad/dim_extract_twice.sql": scd2(f"{DATED}, {TWICE_CONFIG}", TWICE),
        "models/bad/dim_variant_twice.sql": scd2(
            f"{DATED}, source_kind='increment', ignore_columns=['note', 'mail']",
            f"select id, value, named_struct('seen', parse_json(concat('[', length(note), ']'))) as note, mail, at "
            f"from ({TWICE.replace('read at 1', 'read')}) as twice (id, value, mail, note, at)",
        ),
        "models/bad/dim_zeros_twice.sql": scd2(
            f"{DATED}, source_kind='increment'",
            "select * from values (0.0D, 'a'), (-0.0D, 'b') as rows (id, name)"
            " cross join (select timestamp '2024-01-01' as at)",
        ),
        "models/bad/copy_unordered.sql": (
            "{{ config(materialized='scd1', unique_key='id', change_ordinal='lsnn') }}\n"
            "select 1 as id, 'U' as _change_type, 1 as lsn"
        ),
    }
    good["models/good/dim_feature.sql"] = scd2(f"{DATED}, ignore_columns='_change_type'", FEATURE)
    good["models/good/copy_feature.sql"] = scd2("materialized='scd1', unique_key='id'", FEATURE)
    good["models/good/table_sql.sql"] = f"{{{{ config(materialized='table') }}}}\n{GROWING}"
    good["models/good/table_py.py"] = PYTHON_TABLE
    good["models/good/many_fields.sql"] = MANY_FIELDS
    good["models/copies/copy_growing.sql"] = COPY
    return make_project({**good, **bad, "models/wide/dim_wide.sql": scd2(DATED, WIDE)})


@pytest.fixture(scope="module")
def refused(project: DbtProject) -> dict[str, str]:
    """What was said of each model that cannot be built."""
    result = project.dbt("run", "--select", "bad")
    return {run.node.name: str(run.message) for run in result.result.results}


def test_times_without_a_zone_may_come_later(project: DbtProject) -> None:
    project.succeed("run", "--select", "good", "wide", "--vars", "{load: 1}")
    project.succeed("run", "--select", "many_fields", "--vars", "{load: 2}")
    project.succeed("run", "--select", "good", "--exclude", "many_fields", "--vars", "{load: 2}")
    for name in ("dim_feature", "copy_feature"):
        assert project.sql(f"select w.geometry.type from {{schema}}.{name}")[0][0] == "Point"
    # These compare new times with those that they hold, or remember all of them.
    compared = ("dim_increment", "dim_events", "dim_overwriting")
    project.succeed("run", "--select", *compared, "--vars", "{load: 3}")
    second, last = (datetime(2024, 10, 27, 2, 30, load) for load in (2, 3))
    for name in WITHOUT_ZONE:
        seen = last if name in compared else second
        rows = project.sql(f"select seen, parts.x, times from {{schema}}.{name} where is_current")
        assert tuples(rows) == [(seen, seen, [seen])], name
    for name in ("table_sql", "table_py"):
        rows = project.sql(f"select seen, parts.x, times from {{schema}}.{name}")
        assert tuples(rows) == [(second, second, [second])], name
    stored = tuples(project.sql("select distinct seen from {schema}.dim_events__events order by seen"))
    assert stored[-1] == (last,)


def test_times_without_a_zone_may_come_with_a_full_refresh_of_a_copy(project: DbtProject) -> None:
    project.succeed("run", "--select", "copy_growing")
    project.succeed("run", "--select", "copy_growing", "--full-refresh", "--vars", "{load: 2}")
    assert tuples(project.sql("select id, seen from {schema}.copy_growing")) == [(1, datetime(2024, 10, 27, 2, 30, 2))]
    remembered = project.sql("select _change_ordinal from {schema}.copy_growing__ordinals")
    assert tuples(remembered) == [(datetime(2024, 10, 27, 2, 30, 9),)]


@pytest.mark.parametrize("name", [*VOIDS, "void_py"])
def test_a_column_without_a_type_is_refused_with_the_cast(refused: dict[str, str], name: str) -> None:
    message = refused[f"dim_{name}"]
    what = "a part that has no type" if name in ("within", "listed", "mapped") else "no type"
    assert f"the column `w` has {what}" in message
    assert "cast it in the model, for example to " in message
    assert "Nothing was written" in message


@pytest.mark.parametrize("kind", ["dim", "copy"])
@pytest.mark.parametrize("name", UNSTORABLE)
def test_a_type_that_delta_does_not_store_is_refused(refused: dict[str, str], kind: str, name: str) -> None:
    message = refused[f"{kind}_{name}"]
    assert UNSTORABLE[name][1] in message
    assert "typeCheck" not in message


@pytest.mark.parametrize("name", ["dim_repeated", "copy_repeated", "dim_repeated_py", "copy_repeated_py"])
def test_two_columns_of_one_name_are_refused(refused: dict[str, str], name: str) -> None:
    assert "more than one column named `id`" in refused[name]


def test_a_null_in_the_key_may_get_a_value(refused: dict[str, str]) -> None:
    assert "`coalesce`" in refused["dim_null"]


@pytest.mark.parametrize("name", ["dim_twice", "dim_events_twice"])
def test_rows_that_differ_in_an_ignored_column_alone_are_refused(refused: dict[str, str], name: str) -> None:
    assert "different rows of one key have the same `at`: id 1. They differ in `note`." in refused[name]


def test_rows_that_differ_in_an_ignored_variant_alone_are_refused(refused: dict[str, str]) -> None:
    assert "different rows of one key have the same `at`: id 1." in refused["dim_variant_twice"]


def test_rows_of_zero_and_of_its_negative_are_rows_of_one_key(refused: dict[str, str]) -> None:
    assert "different rows of one key have the same `at`: id -0.0" in refused["dim_zeros_twice"]


def test_a_copy_without_the_ordinal_that_it_names_is_refused(refused: dict[str, str]) -> None:
    message = refused["copy_unordered"]
    assert "`change_ordinal` names the column `lsnn`, which the changelog does not hold: did you mean `lsn`?" in message


def test_a_repeated_key_of_an_extract_is_refused_with_the_columns_that_differ(refused: dict[str, str]) -> None:
    assert (
        "2 row(s) that repeat the business key of another one: id 1; id 2. They differ in `note`."
        in refused["dim_extract_twice"]
    )


def test_of_a_struct_that_changed_the_fields_are_named(project: DbtProject) -> None:
    message = project.fail("run", "--select", "dim_wide", "--vars", "{load: 2}")
    for part in (
        "`payload.inner.field_300` is new",
        "`payload.inner.field_0` is missing",
        "`payload.inner.kept` is string",
    ):
        assert part in message
    assert "or return new fields as columns of their own" in message
    assert len(message) < 1000
