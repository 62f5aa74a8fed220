"""A model that reads hashes out of staging: a load makes each hash of a row once, and none that nobody keeps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from dbt.adapters.spark.session import Cursor

from harness import DbtProject, session, tuples

STAGING = """
{{ config(materialized='view') }}
select
    {{ delta_scd2.hash_key({'id': 'int'}) }} as customer_hk,
    *,
    {{ delta_scd2.hash_diff({'col1': 'string', 'col2': 'string', 'col3': 'string'}) }} as hash_diff
from {{ target.schema }}.extract
"""
DIMENSION = """
{{ config(materialized='scd2', unique_key='id', effective_at='at', <options>) }}
select * from {{ ref('stg_customers') }}
"""
PYTHON = """
def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="id", effective_at="at", scd2_columns={"durable_key": "customer_hk"})
    return dbt.ref("stg_customers")
"""
SAME_NAME = "scd2_columns={'durable_key': 'customer_hk'}"
MODELS = {
    "models/stg_customers.sql": STAGING,
    "models/dim_customer.sql": DIMENSION.replace("<options>", ""),
    "models/dim_python.py": PYTHON,
    "models/dim_increment.sql": DIMENSION.replace("<options>", f"source_kind='increment', {SAME_NAME}"),
    # The key that staging made is a column like others here, so that its hash is wanted beside the dimension's own.
    "models/dim_other_name.sql": DIMENSION.replace("<options>", "scd2_columns={'durable_key': 'durable_hk'}"),
}
DDL = "id int, col1 string, col2 string, col3 string, at timestamp"
# SHA-256 of `a|\N|c` and of `a||c`.
NULL, BLANK = (
    "42b2e21563a5cdc8688799f30bb6bb3e038043761faa49c42ce41c3f55817586",
    "2df70e4b17696b02a948ecc40119fdc5715258c6e572e49bf2b3107b7795fd40",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DbtProject]:
    project = DbtProject(tmp_path_factory.mktemp("project"), "one_hash")
    project.write(MODELS)
    at = datetime(2024, 1, 1, tzinfo=UTC)
    project.load("extract", DDL, [(1, "a", None, "c", at), (2, "a", "", "c", at)])
    yield project
    project.drop()


@pytest.fixture(scope="module")
def hashes(project: DbtProject) -> Counter[str]:
    """How many hashes stand in the physical plans of what a first load stages and writes, by model."""
    counted: Counter[str] = Counter()
    execute = Cursor.execute

    def explained(cursor: Cursor, sql: str, *parameters: object) -> None:
        stages = r"(?:create [^;]*?\btable\b.*?\bas|/\* keeps rows as \w+ \*/)\s+((?:select|with)\b.*)"
        query = re.search(stages, sql, re.DOTALL)
        node = re.search(r'"node_id": "model\.\w+\.(\w+)"', sql)
        if query and node:
            plan: str = session().sql(f"explain {query[1]}").collect()[0][0]
            assert "== Physical Plan ==" in plan
            counted[node[1]] += plan.count("sha2(")
        execute(cursor, sql, *parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cursor, "execute", explained)
        project.succeed("run")
    return counted


@pytest.mark.parametrize("dimension", ["dim_customer", "dim_python", "dim_increment"])
def test_hashes_of_the_names_of_a_dimension_are_made_once(hashes: Counter[str], dimension: str) -> None:
    # surrogate key, durable key, and hash_diff
    assert hashes[dimension] == 3


def test_a_hash_of_another_name_is_a_column_and_is_made_beside(hashes: Counter[str]) -> None:
    assert hashes["dim_other_name"] == 4


@pytest.mark.parametrize("dimension", ["dim_customer", "dim_python", "dim_increment"])
def test_the_dimension_has_the_hashes_that_staging_offers(
    project: DbtProject, hashes: Counter[str], dimension: str
) -> None:
    offered = "select customer_hk, hash_diff from {schema}.stg_customers order by id"
    stored = tuples(project.sql(f"select customer_hk, hash_diff from {{schema}}.{dimension} order by id"))
    assert stored == tuples(project.sql(offered))
    assert [row[1] for row in stored] == [NULL, BLANK]
