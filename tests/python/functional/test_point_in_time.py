"""`current`, `as_of` and `as_of_join`: macro, Python twin and plain Python read the same history."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from itertools import product
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from delta_scd2 import as_of, as_of_join, current
from harness import ROOT, DbtProject, session, tuples

ABSENT = "absent"
EXTRACT_TIMES = [datetime(2024, 1, 1, 12, tzinfo=UTC) + timedelta(days=n) for n in range(4)]
# Every history that a key can have over four extracts and these states, each under a composite key of its own.
HISTORIES = {
    (["EU", "US"][n % 2], n // 2): states
    for n, states in enumerate(product([ABSENT, "a", "b"], repeat=len(EXTRACT_TIMES)))
}
OFFSETS = [
    -timedelta(seconds=1),
    -timedelta(milliseconds=1),
    -timedelta(microseconds=1),
    timedelta(0),
    timedelta(1 / 2),
]
TIMES = [ts + offset for ts in EXTRACT_TIMES for offset in OFFSETS]
AS_OF_TIMES = [
    EXTRACT_TIMES[0] + OFFSETS[0],
    *(EXTRACT_TIMES[2] + offset for offset in OFFSETS),
    EXTRACT_TIMES[3] + OFFSETS[-1],
]
EVENTS = [
    (number, *event)
    for number, event in enumerate(
        [(*key, at) for key in HISTORIES for at in TIMES]
        + [
            ("EU", 999, EXTRACT_TIMES[2]),
            ("EU", None, EXTRACT_TIMES[2]),
            (None, 1, EXTRACT_TIMES[2]),
            (None, None, EXTRACT_TIMES[2]),
        ]
        + [("EU", 40, None), (None, None, None), ("EU", 40, datetime(1800, 1, 1, tzinfo=UTC))]
    )
]

DIMENSIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "invalidated": {
        "hard_deletes": "invalidate",
        "closing_gap": "1 millisecond",
        "open_end": None,
        "flag_values": [1, 0],
        "surrogate_key": "sequence",
    },
    "recorded": {
        "hard_deletes": "new_record",
        "open_end": None,
        "flag_values": ["Y", "N"],
        "unknown_member": True,
        "scd2_columns": {
            "surrogate_key": "the-`key`",
            "effective_from": "Valid-From",
            "effective_to": "Valid-To",
            "is_current": "Current",
            "is_deleted": "Deleted",
        },
    },
    "recorded_apart": {
        "hard_deletes": "new_record",
        "closing_gap": "1 second",
        "surrogate_key": "sequence",
        "unknown_member": True,
    },
    "ignored": {"hard_deletes": "ignore", "closing_gap": "1 microsecond"},
}
UNKNOWN = {"recorded": hashlib.sha256(rb"\N|\N").hexdigest(), "recorded_apart": -1}
GAPS = {
    "0": timedelta(0),
    "1 microsecond": timedelta(microseconds=1),
    "1 millisecond": timedelta(milliseconds=1),
    "1 second": timedelta(seconds=1),
}

BERLIN = ZoneInfo("Europe/Berlin")
# Midnight, the hour in which the clock is set back, and the next midnight, which comes 25 hours after the first.
ZONED_EXTRACTS = [
    datetime(2022, 10, 30, tzinfo=BERLIN),
    datetime(2022, 10, 30, 1, tzinfo=UTC),
    # In the second of two hours that a clock in Berlin shows alike.
    datetime(2022, 10, 30, 1, 30, tzinfo=UTC),
    datetime(2022, 10, 31, tzinfo=BERLIN),
]

CASES: dict[str, dict[str, Any]] = {
    "hash": {},
    "sequence": {"surrogate_key": "sequence"},
    # The last day that counts, which a date may be asked for.
    "daily": {"closing_gap": "1 day"},
}
CASE_EXTRACTS = {1: datetime(2024, 6, 1, tzinfo=UTC), 2: datetime(2024, 6, 3, tzinfo=UTC)}


COMBINED = f"""
{{{{ config(materialized='view') }}}}
{{{{ delta_scd2.combine_histories(
    [{", ".join(f"ref('dim_{kind}')" for kind in DIMENSIONS)}],
    columns={{{", ".join(f"'dim_{kind}': {{'value': '{kind}'}}" for kind in DIMENSIONS)}}}
) }}}}
"""
# One side with all its columns, and one with its surrogate key alone.
COMBINED_CASE = """
{{ config(materialized='view') }}
{{ delta_scd2.combine_histories(
    [ref('dim_case_daily'), ref('dim_case_sequence')], columns={'dim_case_sequence': 'case_sequence_sk'}
) }}
"""


def configured(**options: Any) -> str:
    # JSON is Jinja but for its three words.
    options = {"materialized": "scd2", "effective_at": "extracted_at", "max_delete_fraction": 1, **options}
    return "{{ config(**" + json.dumps(options).replace("null", "none") + ") }}\n"


def table(name: str) -> str:
    return f"select * from {{{{ target.schema }}}}.{name}\n"


def models() -> dict[str, str]:
    lookup = "{{ config(materialized='view') }}\n{{ delta_scd2.as_of_join(target.schema ~ '.%s', ref('dim_%s'), %s) }}"
    times = [f"timestamp '{at.isoformat(' ')}'" for at in AS_OF_TIMES]
    files = {
        "models/dim_zoned.sql": configured(unique_key="id", closing_gap="1 millisecond") + table("zoned"),
        "models/fct_zoned.sql": lookup % ("zoned_events", "zoned", "'happened_at'"),
        "models/fct_dated.sql": lookup % ("zoned_events", "zoned", "'happened_on'"),
        "models/fct_local.sql": lookup % ("zoned_events", "zoned", "'happened_locally'"),
    }
    for kind, options in DIMENSIONS.items():
        files |= {
            f"models/dim_{kind}.sql": configured(unique_key=["region", "id"], **options) + table("extracts"),
            f"models/fct_{kind}.sql": lookup
            % ("events", kind, "'happened-at', keys={'area': 'region', 'no': 'id'}, alias='version'"),
            f"models/current_{kind}.sql": f"{{{{ delta_scd2.current(ref('dim_{kind}')) }}}}",
            f"models/as_of_{kind}.sql": "\nunion all\n".join(
                f'select {n} as n, * from ({{{{ delta_scd2.as_of(ref("dim_{kind}"), "{at}") }}}})'
                for n, at in enumerate(times)
            ),
        }
    files["models/combined.sql"] = COMBINED
    files["models/combined_case.sql"] = COMBINED_CASE
    for kind, options in CASES.items():
        options = {"unique_key": "id", "unknown_member": True, **options}
        files[f"models/dim_case_{kind}.sql"] = configured(**options) + table("case")
        files[f"models/fct_case_{kind}.sql"] = lookup % ("case_events", f"case_{kind}", "'happened_on'")
    return files


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    project = make_project(models())
    project.load("events", "number int, area string, no int, `happened-at` timestamp", EVENTS)
    project.load(
        "extracts",
        "region string, id int, value string, extracted_at timestamp",
        [
            (*key, states[n], ts)
            for key, states in HISTORIES.items()
            for n, ts in enumerate(EXTRACT_TIMES)
            if states[n] != ABSENT
        ],
    )
    project.load(
        "zoned",
        "id int, value int, extracted_at timestamp",
        [(1, version, at.astimezone(UTC)) for version, at in enumerate(ZONED_EXTRACTS)],
    )
    project.load("case", "id int, value int, extracted_at timestamp", [(1, *item) for item in CASE_EXTRACTS.items()])
    project.load("case_events", "id int, happened_on date", [(1, date(2024, 5, 31) + timedelta(n)) for n in range(5)])
    project.load(
        "zoned_events",
        "id int, happened_at timestamp, happened_on date, happened_locally timestamp_ntz",
        [(1, at, at.date(), at.replace(tzinfo=None)) for at in zoned_events()],
    )
    project.succeed("run", "--select", "dim_*")
    return project


@pytest.fixture(scope="module")
def queries(project: DbtProject) -> dict[str, str]:
    """The SQL that the macros gave, by model."""
    results = project.succeed("run", "--exclude", "dim_*")
    return {name: result.node.compiled_code for name, result in results.items()}


@contextmanager
def setting(name: str, value: str) -> Iterator[None]:
    spark = session()
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, before)


def twin_options(kind: str) -> dict[str, Any]:
    options = DIMENSIONS[kind]
    names = options.get("scd2_columns", {})
    return {
        **{role: names.get(role, role) for role in ("effective_from", "effective_to", "is_deleted")},
        "flag_values": options.get("flag_values", (True, False)),
        "closing_gap": GAPS[options.get("closing_gap", "0")],
        "hard_deletes": options.get("hard_deletes", "soft_delete"),
    }


def surrogate_key(kind: str) -> str:
    return DIMENSIONS[kind].get("scd2_columns", {}).get("surrogate_key", f"{kind}_sk")


def state_at(kind: str, key: tuple[Any, Any], at: datetime | None) -> str | None:
    """The value of the last extract until this time, straight from the extracts."""
    if at is None or key not in HISTORIES:
        return None
    seen = [state for ts, state in zip(EXTRACT_TIMES, HISTORIES[key], strict=True) if ts <= at]
    if kind == "ignored":
        seen = [state for state in seen if state != ABSENT]
    return seen[-1] if seen and seen[-1] != ABSENT else None


# -- as_of_join


@pytest.mark.parametrize("kind", DIMENSIONS)
def test_every_fact_gets_the_version_of_its_time(
    project: DbtProject, queries: dict[str, str], spark: SparkSession, kind: str
) -> None:
    found = sorted(tuples(project.sql(f"select number, area, no, version from {{schema}}.fct_{kind}")))
    assert [row[:3] for row in found] == [event[:3] for event in EVENTS]

    key = "`" + surrogate_key(kind).replace("`", "``") + "`"
    versions = {row[0]: row[1:] for row in project.sql(f"select {key}, region, id, value from {{schema}}.dim_{kind}")}
    for (*_, version), (_, area, no, at) in zip(found, EVENTS, strict=True):
        state = state_at(kind, (area, no), at)
        if state is None:
            assert version == UNKNOWN.get(kind), (area, no, at)
        else:
            assert versions[version] == (area, no, state), at

    twin = as_of_join(
        spark.table(f"{project.schema}.events"),
        spark.table(f"{project.schema}.dim_{kind}"),
        "happened-at",
        {"area": "region", "no": "id"},
        surrogate_key=surrogate_key(kind),
        alias="version",
        unknown_member=kind in UNKNOWN,
        **twin_options(kind),
    )
    assert twin.columns == ["number", "area", "no", "happened-at", "version"]
    assert sorted(tuples(twin.drop("happened-at").collect())) == found


@pytest.mark.parametrize(
    ("kind", "threshold"),
    [
        *((kind, "10MB") for kind in DIMENSIONS),
        *((kind, "-1") for kind in ("plain", "invalidated")),
        *(pytest.param(kind, "-1", marks=pytest.mark.slow) for kind in [*DIMENSIONS][2:]),
    ],
)
def test_the_plan_is_an_equi_join_bounded_by_the_range(queries: dict[str, str], kind: str, threshold: str) -> None:
    with setting("spark.sql.autoBroadcastJoinThreshold", threshold):
        plan = session().sql("explain formatted " + queries[f"fct_{kind}"]).collect()[0][0]
    assert "NestedLoop" not in plan
    assert "Cartesian" not in plan
    assert ("BroadcastHashJoin LeftOuter" if threshold == "10MB" else "SortMergeJoin LeftOuter") in plan
    join = next(part for part in plan.split("\n\n") if "Join condition" in part)
    assert "Left keys [2]: [area#" in join
    assert "<= happened-at#" in join
    assert "> happened-at#" in join


@pytest.mark.parametrize("kind", CASES)
def test_a_key_loaded_twice(project: DbtProject, queries: dict[str, str], kind: str) -> None:
    versions = dict(project.sql(f"select value, case_{kind}_sk from {{schema}}.dim_case_{kind}"))
    unknown = -1 if kind == "sequence" else hashlib.sha256(rb"\N").hexdigest()
    found = project.sql(f"select case_{kind}_sk from {{schema}}.fct_case_{kind} order by happened_on")
    # From 31 May to 4 June, with loads on 1 and 3 June.
    assert [row[0] for row in found] == [unknown, versions[1], versions[1], versions[2], versions[2]]


# -- as_of and current


@pytest.mark.parametrize("kind", DIMENSIONS)
def test_as_of_gives_the_state_of_every_key(
    project: DbtProject, queries: dict[str, str], spark: SparkSession, kind: str
) -> None:
    expected = [
        (n, *key, state)
        for n, at in enumerate(AS_OF_TIMES)
        for key in sorted(HISTORIES)
        if (state := state_at(kind, key, at)) is not None
    ]
    columns = ["region", "id", "value"]
    rows = project.sql(f"select n, region, id, value from {{schema}}.as_of_{kind} where region is not null")
    assert sorted(tuples(rows)) == expected

    dimension = spark.table(f"{project.schema}.dim_{kind}").where("region is not null")
    twins = [as_of(dimension, at, **twin_options(kind)).select(F.lit(n), *columns) for n, at in enumerate(AS_OF_TIMES)]
    assert sorted(tuples(reduce(DataFrame.unionAll, twins).collect())) == expected
    expression = F.lit("2024-01-03 12:00:00+00:00").cast("timestamp")
    same = as_of(dimension, expression, **twin_options(kind)).select(*columns)
    assert sorted(tuples(same.collect())) == [row[1:] for row in expected if AS_OF_TIMES[row[0]] == EXTRACT_TIMES[2]]


@pytest.mark.parametrize("kind", DIMENSIONS)
def test_current_gives_the_live_keys(
    project: DbtProject, queries: dict[str, str], spark: SparkSession, kind: str
) -> None:
    states = {key: state_at(kind, key, EXTRACT_TIMES[-1]) for key in sorted(HISTORIES)}
    expected = [(*key, state) for key, state in states.items() if state is not None]
    rows = project.sql(f"select region, id, value from {{schema}}.current_{kind} where region is not null")
    assert sorted(tuples(rows)) == expected

    options = twin_options(kind)
    names = {"is_current": DIMENSIONS[kind].get("scd2_columns", {}).get("is_current", "is_current")}
    names |= {"is_deleted": options["is_deleted"], "flag_values": options["flag_values"]}
    twin = current(spark.table(f"{project.schema}.dim_{kind}").where("region is not null"), **names)
    assert sorted(tuples(twin.select("region", "id", "value").collect())) == expected


# -- combine_histories


def test_a_combined_history_has_the_state_of_every_dimension(project: DbtProject, queries: dict[str, str]) -> None:
    rows = project.sql("select * from {schema}.combined where region is not null")
    expected = {(*key, at): tuple(state_at(kind, key, at) for kind in DIMENSIONS) for key in HISTORIES for at in TIMES}
    found = {
        (row.region, row.id, at): tuple(row[4:])
        for row in rows
        for at in TIMES
        if row.effective_from.replace(tzinfo=UTC) <= at < row.effective_to.replace(tzinfo=UTC)
    }
    assert found == {place: states for place, states in expected.items() if any(states)}
    assert [*rows[0].asDict()] == ["region", "id", "effective_from", "effective_to", *DIMENSIONS]
    # The unknown members of two of the dimensions.
    assert project.sql("select count(*) from {schema}.combined where region is null and id is null")[0][0] == 1


def test_a_side_keeps_the_columns_of_its_model_and_its_surrogate_key(
    project: DbtProject, queries: dict[str, str]
) -> None:
    rows = project.sql("select * from {schema}.combined_case where id is not null order by effective_from")
    names = ["id", "effective_from", "effective_to", "case_daily_sk", "value", "case_sequence_sk"]
    assert [*rows[0].asDict()] == names
    ends = [at.replace(tzinfo=None) for at in (*CASE_EXTRACTS.values(), datetime(9999, 12, 31))]
    assert [tuple(row[:3]) for row in rows] == [(1, *ends[:2]), (1, *ends[1:])]
    for side in ("daily", "sequence"):
        key = f"case_{side}_sk"
        keys = project.sql(f"select {key} from {{schema}}.dim_case_{side} where id = 1 order by effective_from")
        assert [row[key] for row in rows] == [row[0] for row in keys]
    project.succeed("run", "--empty", "--select", "combined_case")
    assert [row.col_name for row in project.sql("describe {schema}.combined_case")] == names
    assert project.sql("select * from {schema}.combined_case") == []


# -- time zones


def zoned_events() -> list[datetime]:
    """Every half hour around the end of daylight saving."""
    return [datetime(2022, 10, 29, 12, tzinfo=UTC) + timedelta(minutes=30 * n) for n in range(96)]


@pytest.mark.parametrize(
    "zone",
    [
        "Europe/Berlin",
        "America/New_York",
        *(pytest.param(zone, marks=pytest.mark.slow) for zone in ("UTC", "Asia/Kolkata")),
    ],
)
def test_the_zone_of_the_session_decides_what_has_no_zone(
    project: DbtProject, queries: dict[str, str], spark: SparkSession, zone: str
) -> None:
    dimension = spark.table(f"{project.schema}.dim_zoned")
    facts = spark.table(f"{project.schema}.zoned_events")
    local = ZoneInfo(zone)
    times = {
        "fct_zoned": ("happened_at", zoned_events()),
        "fct_dated": (
            "happened_on",
            [datetime.combine(at.date(), datetime.min.time(), local) for at in zoned_events()],
        ),
        "fct_local": ("happened_locally", [at.replace(tzinfo=local) for at in zoned_events()]),
    }
    with setting("spark.sql.session.timeZone", zone):
        versions = {row.zoned_sk: row.value for row in dimension.collect()}
        for model, (column, ats) in times.items():
            # Comparing in UTC: datetimes of one zone compare by the clock on the wall.
            instants = [at.astimezone(UTC) for at in ats]
            expected = [sum(extract <= at for extract in ZONED_EXTRACTS) - 1 for at in instants]
            twin = as_of_join(
                facts, dimension, column, "id", surrogate_key="zoned_sk", closing_gap=GAPS["1 millisecond"]
            )
            for frame in (spark.sql(queries[model]), twin):
                rows = frame.select(F.unix_micros("happened_at"), "zoned_sk").collect()
                assert [versions.get(key, -1) for _, key in sorted(rows)] == expected, (zone, model)


# -- early-arriving facts


def test_early_facts_are_pointed_again(make_project) -> None:
    gold = ROOT / "models" / "gold"
    project = make_project(
        {
            "models/stg_crm__customers.sql": table("customers"),
            "models/stg_shop__orders.sql": table("orders"),
            **{f"models/{name}.sql": (gold / f"{name}.sql").read_text() for name in ("dim_customer", "fct_order")},
        }
    )
    first, second = datetime(2024, 3, 1), datetime(2024, 3, 2)
    ddl = "region string, customer_no string, name string, extracted_at timestamp"
    customers = [("EU", "1", "Ann", first), ("EU", "2", "Bob", first)]
    orders = [
        (1, "EU", "1", first, 10),
        (2, "EU", "1", second, 10),  # arrives before the version of Ann that it belongs to
        (3, "EU", "3", second, 10),  # arrives before its customer
        (4, "EU", "4", second, 10),  # its customer never arrives
        (5, "EU", "2", second, 10),
    ]
    orders_ddl = "order_no int, region string, customer_no string, ordered_at timestamp, amount int"
    found = """
        select order_no, name, amount
        from {schema}.fct_order left join {schema}.dim_customer using (customer_sk)
        order by order_no
    """
    project.load("customers", ddl, customers)
    project.load("orders", orders_ddl, orders)
    project.succeed("run")
    names = ["Ann", "Ann", None, None, "Bob"]
    assert tuples(project.sql(found)) == [(n, name, 10) for n, name in enumerate(names, 1)]

    project.load("customers", ddl, [("EU", "1", "Anna", second), ("EU", "2", "Bob", second), ("EU", "3", "Cy", second)])
    project.load("orders", orders_ddl, [*orders, (6, "EU", "3", first, 10)])
    project.succeed("run")
    names = ["Ann", "Anna", "Cy", None, "Bob", None]
    assert tuples(project.sql(found)) == [(n, name, 10) for n, name in enumerate(names, 1)]

    before = project.version("fct_order")
    project.succeed("run")
    assert project.version("fct_order") == before


def test_a_filter_by_event_time_hides_no_version(make_project) -> None:
    dimension = """
    {{ config(materialized='scd2', unique_key='id', effective_at='at', event_time='effective_from') }}
    select 1 as id, 'a' as name, timestamp '2024-01-01' as at
    """
    batches = """
    {{ config(
        materialized='incremental', incremental_strategy='microbatch', event_time='ordered_at', begin='2024-06-10',
        batch_size='day', lookback=0, partition_by='ordered_on', file_format='delta'
    ) }}
    select *, to_date(ordered_at) as ordered_on
    from ({{ delta_scd2.as_of_join(ref('orders'), ref('dim_buyer'), 'ordered_at') }})
    cross join (select name from ({{ delta_scd2.as_of(ref('dim_buyer'), '2024-06-10') }}))
    cross join (select count(*) as live from ({{ delta_scd2.current(ref('dim_buyer')) }}))
    """
    project = make_project(
        {
            "models/dim_buyer.sql": dimension,
            "models/orders.sql": "{{ config(event_time='ordered_at') }}\n"
            "select 1 as id, timestamp '2024-06-10 12:00:00' as ordered_at",
            "models/fct_order.sql": batches,
        }
    )
    day = ("--event-time-start", "2024-06-10", "--event-time-end", "2024-06-11")
    project.succeed("run", *day)
    (order,) = project.sql("select buyer_sk is not null as is_found, name, live from {schema}.fct_order")
    assert tuple(order) == (True, "a", 1)


def test_a_deferred_dimension_is_found_in_another_schema(make_project) -> None:
    query = "{{ delta_scd2.as_of_join(target.schema ~ '.sales', ref('dim_item'), 'at') }}"
    row = "select 1 as id, 'a' as name, date '2024-01-01' as extracted_at"
    project = make_project({
        "models/dim_item.sql": configured(unique_key="id", track_columns=["name"]) + row,
        "models/dim_item.yml": "models: [{name: dim_item, data_tests: [delta_scd2.versions_differ]}]",
        "models/fct_sale.sql": "{{ config(materialized='table') }}" + query,
    })  # fmt: skip
    project.load("sales", "id int, at timestamp", [(1, datetime(2024, 2, 1, tzinfo=UTC))])
    project.succeed("run", "--write-json")
    shutil.copytree(project.directory / "target", project.directory / "state")
    branch = DbtProject(project.directory, f"{project.schema}_branch")
    branch.load("sales", "id int, at timestamp", [(1, datetime(2024, 3, 1, tzinfo=UTC))])
    branch.succeed("run", "--select", "fct_sale", "--defer", "--state", str(project.directory / "state"))
    keys = project.sql("select item_sk from {schema}.dim_item")
    branch.succeed("test", "--select", "dim_item", "--defer", "--state", str(project.directory / "state"))
    assert branch.sql("select item_sk from {schema}.fct_sale") == keys
    assert branch.relations() == {"sales", "fct_sale"}


# -- tables of other origin, and mistakes

OTHER = """{
    'unique_key': 'id', 'surrogate_key': 'sequence', 'unknown_member': true,
    'scd2_columns': {'surrogate_key': 'sk', 'effective_from': 'valid_from', 'effective_to': 'valid_to'},
}"""

OTHERS = {
    "other_as_of": "{{ delta_scd2.as_of(target.schema ~ '.other', \"timestamp '2024-02-01'\", options=OTHER) }}",
    "other_current": "{{ delta_scd2.current(target.schema ~ '.other', options=OTHER) }}",
    "other_fact": "with events as (select * from {{ target.schema }}.other_events)\n"
    "{{ delta_scd2.as_of_join('events', target.schema ~ '.other', 'at', options=OTHER) }}",
}

COMBINED_IN_A_TEST = """{{ delta_scd2.combine_histories(
    [ref('a_table'), ref('b_table')], keys='id', columns={'a_table': 'name', 'b_table': 'size'},
    options={'a_table': {'open_end': none}, 'b_table': {'closing_gap': '1 day'}}
) }}"""
UNIT_TEST = """
unit_tests:
  - name: of_two_histories
    model: combined_in_a_test
    given:
      - input: ref('a_table')
        format: sql
        rows: >
          select 1 as id, 'a' as name, timestamp '2024-01-01' as effective_from,
            cast(null as timestamp) as effective_to
      - input: ref('b_table')
        format: sql
        rows: >
          select 1 as id, 5 as size, timestamp '2024-02-01' as effective_from,
            timestamp '2024-02-28' as effective_to
    expect:
      rows:
        - {id: 1, effective_from: 2024-01-01, effective_to: 2024-02-01, name: a, size: null}
        - {id: 1, effective_from: 2024-02-01, effective_to: 2024-02-29, name: a, size: 5}
        - {id: 1, effective_from: 2024-02-29, effective_to: null, name: a, size: null}
"""

WRONG = "{'hard_deletes': 'new_records', 'closing_gap': '1 ms'}"

MISTAKES = {
    "no_dimension": ("{{ delta_scd2.as_of(ref('a_table'), 'now()') }}", "no scd2 model of this project builds it"),
    "no_option": (
        "{{ delta_scd2.current(ref('dim_soft'), options={'closing_gapp': 0}) }}",
        "did you mean `closing_gap`?",
    ),
    "no_key": (
        "{{ delta_scd2.as_of_join(ref('a_table'), ref('a_table'), 'at', options={'open_end': none}) }}",
        "must be the whole business key of",
    ),
    "half_a_key": (
        "{{ delta_scd2.as_of_join(ref('a_table'), ref('dim_soft'), 'at', keys={'area': 'region'}) }}",
        "`unique_key` (region, id), but are (region)",
    ),
    "no_value": (
        "{{ delta_scd2.as_of(ref('dim_soft'), 'now()', options=WRONG) }}",
        "`hard_deletes` is `new_records`, expected one of soft_delete, invalidate, new_record, ignore; "
        "`closing_gap` is `1 ms`, expected 0 or an interval",
    ),
    "no_names": (
        "{{ delta_scd2.current(ref('dim_soft'), options={'scd2_columns': 'valid_from'}) }}",
        "`scd2_columns` is `valid_from`, expected a mapping",
    ),
    "no_day": ("{{ delta_scd2.as_of(ref('dim_soft'), '2024-02-30') }}", "`2024-02-30` is not a time: write it like"),
    "no_time": (
        "{{ delta_scd2.as_of(ref('dim_soft'), var('day', none)) }}",
        "the time is `None`: give one, as text or as a SQL expression",
    ),
    "no_zero": ("{{ delta_scd2.as_of(ref('dim_soft'), '2024-6-2') }}", "`2024-6-2` is not a time: write it like"),
    "no_combination": (
        "{{ delta_scd2.combine_histories([ref('dim_soft')], keys='id', require='each', columns={'dim_sofd': 'a'}) }}",
        "one relation is no combination: give at least two; `require` is `each`, expected any, all or first; "
        "`columns` names `dim_sofd`, which is none of the relations (dim_soft); `keys` must be the whole business "
        "key of each relation, but are (id), and `unique_key` of dim_soft is (region, id)",
    ),
    "no_second_dimension": (
        "{{ delta_scd2.combine_histories([ref('dim_soft'), ref('dim_soft')]) }}",
        "two relations have one name (dim_soft, dim_soft): read one of them as a CTE with another name",
    ),
    "no_business_key": (
        "{{ delta_scd2.combine_histories(['a', 'b'], options={'a': {'open_end': none}, 'b': {'open_end': none}}) }}",
        "the columns of a are not in the catalog: name those to keep in `columns={'a': […]}`; the columns of b are "
        "not in the catalog: name those to keep in `columns={'b': […]}`; there is no business key: name its columns",
    ),
    "no_two_columns": (
        "{{ delta_scd2.combine_histories([ref('dim_soft'), 'b'], options={'b': {'open_end': none}}, "
        "columns={'dim_soft': ['size', 'Name'], 'b': {'name': 'name', 'region': 'region'}}) }}",
        "the result would have more than one column region, name: name the `columns` of a relation, as a mapping",
    ),
    "no_mapping": (
        "{{ delta_scd2.combine_histories([ref('dim_soft'), ref('a_table')], columns=['size'], options={}) }}",
        "no scd2 model of this project builds it",
    ),
    "no_names_of_columns": (
        "{{ delta_scd2.combine_histories([ref('dim_soft')], columns=['size'], options=['size']) }}",
        "`columns` is `['size']`, expected a mapping by the names of the relations; `options` is `['size']`, expected",
    ),
    "no_surrogate_key": (
        "{{ delta_scd2.as_of_join(ref('a_table'), ref('dim_soft'), 'at', options={'surrogate_key': 'none'}) }}",
        "has no surrogate key to look up",
    ),
}


@pytest.fixture(scope="module")
def small(make_project) -> DbtProject:
    project = make_project(
        {
            "models/dim_soft.sql": configured(unique_key=["region", "id"]) + table("nowhere"),
            "models/a_table.sql": "select 1 as id",
            "models/b_table.sql": "select 1 as id",
            "models/combined_in_a_test.sql": COMBINED_IN_A_TEST,
            "models/unit_tests.yml": UNIT_TEST,
            **{f"models/{name}.sql": text.replace("OTHER", OTHER) for name, text in OTHERS.items()},
            **{f"models/bad/{name}.sql": text.replace("WRONG", WRONG) for name, (text, _) in MISTAKES.items()},
        }
    )
    ddl = "sk int, id int, valid_from timestamp, valid_to timestamp, is_current boolean, is_deleted boolean"
    day = datetime.fromisoformat
    project.load(
        "other",
        ddl,
        [
            (-1, None, day("1900-01-01"), None, True, False),
            (1, 7, day("2024-01-01"), day("2024-02-01"), False, False),
            (2, 7, day("2024-02-01"), None, True, False),
            (3, 8, day("2024-01-01"), day("2024-01-15"), True, True),
            (4, 9, day("2024-01-01"), day("9999-12-31"), True, False),
        ],
    )
    project.load("other_events", "id int, at date", [(id_, date(2024, 2, 1)) for id_ in (7, 8, 9, 10, None)])
    return project


def test_a_table_of_other_origin_and_its_unknown_member(small: DbtProject) -> None:
    small.succeed("run", "--select", *OTHERS)
    assert sorted(row.sk for row in small.sql("select sk from {schema}.other_as_of")) == [-1, 2, 4]
    assert sorted(row.sk for row in small.sql("select sk from {schema}.other_current")) == [-1, 2, 4]
    facts = small.sql("select id, sk from {schema}.other_fact order by id nulls last")
    assert tuples(facts) == [(7, 2), (8, -1), (9, 4), (10, -1), (None, -1)]


def test_a_unit_test_of_a_combined_history(small: DbtProject) -> None:
    small.succeed("test", "--select", "of_two_histories")


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_before_any_query_runs(small: DbtProject, name: str) -> None:
    assert MISTAKES[name][1] in small.fail("compile", "--select", name)


@pytest.mark.parametrize("at", [datetime(1500, 1, 1, tzinfo=UTC), "1500-01-01", date(1500, 1, 1)])
def test_a_time_of_the_old_calendar_is_exact(spark: SparkSession, at: datetime | str | date) -> None:
    began, before = "timestamp '1500-01-01 00:00:00Z'", "timestamp '1499-12-31 23:59:59.999999Z'"
    dimension = spark.sql(f"""
        select 1 as version, {before} as effective_from, {began} as effective_to
        union all select 2, {began}, null
    """)
    assert [row.version for row in as_of(dimension, at).collect()] == [2]


def test_mistakes_in_python(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, None)], "id int, at timestamp")
    with pytest.raises(ValueError, match=r"dimension has no column is_current, is_deleted\. Its columns are: id, at\."):
        current(frame)
    with pytest.raises(ValueError, match="has no time zone"):
        as_of(frame, datetime(2024, 1, 1))
    with pytest.raises(ValueError, match="The time is `None`: give a timestamp expression"):
        as_of(frame, cast("Any", None))
    with pytest.raises(ValueError, match="fact has no column area"):
        as_of_join(frame, frame, "at", {"area": "id"}, surrogate_key="id")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"hard_deletes": "new_records"}, "`hard_deletes` is `new_records`, expected one of soft_delete, "),
        ({"closing_gap": -timedelta(days=1)}, "expected a timedelta that is not negative"),
        ({"closing_gap": "1 second"}, "expected a timedelta that is not negative"),
        ({"flag_values": {"Y", "N"}}, "expected two different texts"),
        ({"flag_values": "YN"}, "`flag_values` is `YN`, expected two different texts"),
    ]
    for options, message in wrong:
        with pytest.raises(ValueError, match=message):
            as_of(frame, "2024-01-01", **options)
        with pytest.raises(ValueError, match=message):
            as_of_join(frame, frame, "at", "id", surrogate_key="id", **options)
    with pytest.raises(ValueError, match="`flag_values` is "):
        current(frame, is_current="id", is_deleted="at", flag_values=(True, True))
    with pytest.raises(ValueError, match="has no keys"):
        as_of_join(frame, frame, "at", [], surrogate_key="id")
    dimension = spark.sql("select 1 as id, 7 as sk, now() as effective_from, now() as effective_to")
    facts = frame.withColumn("SK", F.lit(1))
    with pytest.raises(ValueError, match="The fact has a column sk already: drop it, or give the new one another"):
        as_of_join(facts, dimension, "at", "id", surrogate_key="sk")
    assert as_of_join(facts, dimension, "at", "id", surrogate_key="sk", alias="sk_2").columns == [
        "id",
        "at",
        "SK",
        "sk_2",
    ]
