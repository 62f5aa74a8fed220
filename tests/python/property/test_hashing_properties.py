"""The hash of random rows: Spark agrees with the oracle, and two values share a hash only when they are the same."""

from __future__ import annotations

import json
from datetime import UTC
from decimal import Decimal
from math import isnan
from struct import pack, unpack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from delta_scd2 import hash_key
from harness import DbtProject, tuples
from hash_oracle import hash_of, xxhash64

# Few letters, so that rows often differ in nothing but where a separator stands.
TEXTS = st.text("|\\N:1,a", max_size=4) | st.text(max_size=3)
DOUBLES = st.floats() | st.sampled_from([0.0, -0.0, 0.5, 2.0**53, float("nan")])
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)
DECIMALS = st.decimals(-(10**13) + 1, 10**13 - 1, places=7) | st.sampled_from([Decimal("0.0000001"), Decimal("2.50")])

COLUMNS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "t": ("string", TEXTS),
    "i": ("bigint", NUMBERS),
    "m": ("decimal(20,7)", DECIMALS.map(lambda number: number + 0)),
    "d": ("double", DOUBLES),
    "f": ("float", st.floats(width=32)),
    "b": ("boolean", st.booleans()),
    "on": ("date", st.dates()),
    "at": ("timestamp", st.datetimes(timezones=st.just(UTC))),
    "n": ("timestamp_ntz", st.datetimes()),
    "y": ("binary", st.binary(max_size=3)),
    "a": ("array<string>", st.lists(st.none() | TEXTS, max_size=3)),
    "aa": ("array<array<double>>", st.lists(st.none() | st.lists(st.none() | DOUBLES, max_size=2), max_size=2)),
    "s": ("struct<x:double,y:string>", st.tuples(st.none() | DOUBLES, st.none() | TEXTS)),
    "p": ("map<string,string>", st.dictionaries(TEXTS, st.none() | TEXTS, max_size=3)),
}
ROWS = st.lists(st.tuples(*(st.none() | values for _, values in COLUMNS.values())), min_size=20, max_size=60)


@pytest.fixture(scope="module")
def hashing_sql(make_project) -> str:
    """What dbt compiles of a model that hashes each column by itself, then all of them."""
    types = {name: data_type for name, (data_type, _) in COLUMNS.items()}
    hashes = [{name: data_type} for name, data_type in types.items()] + [types]
    columns = ", ".join(f"{{{{ delta_scd2.hash_key({json.dumps(columns)}) }}}}" for columns in hashes)
    project: DbtProject = make_project({"models/hashes.sql": f"select {columns} from random_rows"})
    return str(project.succeed("compile")["hashes"].node.compiled_code)


def canonical(value: Any) -> Any:
    """Equal, and of equal Python hash, for values that are to share a hash."""
    match value:
        case float() if isnan(value):
            return "NaN"
        case list() | tuple():
            return tuple(canonical(item) for item in value)
        case dict():
            return frozenset((key, canonical(item)) for key, item in value.items())
    return value


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS)
def test_spark_and_oracle_agree(spark: SparkSession, hashing_sql: str, rows: list[tuple[Any, ...]]) -> None:
    ddl = ", ".join(f"{name} {data_type}" for name, (data_type, _) in COLUMNS.items())
    frame = spark.createDataFrame(rows, ddl).coalesce(1)
    frame.createOrReplaceTempView("random_rows")
    names = list(COLUMNS)
    twins = [hash_key(frame, columns).alias("hash") for columns in [*names, names]]
    # One Spark job for both: planning costs more than the rows do.
    hashes = tuples(spark.sql(hashing_sql).union(frame.select(twins)).collect())
    by_macro, by_twin = hashes[: len(rows)], hashes[len(rows) :]
    by_oracle = [tuple(hash_of(values) for values in [*((value,) for value in row), row]) for row in rows]
    assert by_macro == by_oracle
    assert by_twin == by_oracle

    for number, name in enumerate(names):
        same = {(canonical(row[number]), hashed[number]) for row, hashed in zip(rows, by_macro, strict=True)}
        assert len({value for value, _ in same}) == len({hashed for _, hashed in same}) == len(same), name


@given(st.floats(allow_nan=False))
def test_xxhash64_of_a_double_can_be_undone(value: float) -> None:
    """So two doubles never share the text of a fraction: each step of the hash is undone here in turn."""
    primes = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    inverse1, inverse2, inverse3 = (pow(prime, -1, 2**64) for prime in primes[:3])
    mask = 2**64 - 1

    def rotated_back(number: int, by: int) -> int:
        return (number >> by | number << (64 - by)) & mask

    (state,) = unpack("<Q", pack("<q", xxhash64(value)))
    state ^= state >> 32
    state = state * inverse3 & mask
    state ^= state >> 29 ^ state >> 58
    state = state * inverse2 & mask
    state ^= state >> 33
    state = rotated_back((state - primes[3]) * inverse1 & mask, 27)
    state ^= (42 + primes[4] + 8) & mask
    state = rotated_back(state * inverse1 & mask, 31) * inverse2 & mask
    assert pack("<Q", state) == pack("<d", value)
