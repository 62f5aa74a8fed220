"""The project of integration_tests, which installs this one: what dbt reads there, and what its builds make."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from harness import INVARIANTS, ROOT, tuples
from shop import build_wheel, copy_shop, make_environment, need_overrides, read_as_its_own, run

MODELS = ("dim_customer", "dim_customer_py")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, with an empty warehouse beside it."""
    directory = copy_shop(tmp_path)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(directory))
    monkeypatch.setenv("DELTA_JARS", str(ROOT / ".spark" / "jars"))
    monkeypatch.setenv("SHOP_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(directory)
    return directory


def listed(*options: str) -> list[str]:
    """What dbt reads; a warning here would be one in every project that installs this one: of dbt's deprecations, or of
    the demo."""
    found = dbtRunner().invoke(["--quiet", "--warn-error", "ls", "--resource-type", "all", *options])
    assert found.success, found.exception
    assert found.result is not None
    return found.result


def build(*models: str) -> None:
    built = dbtRunner().invoke(["--quiet", "build", *(["--select", *models] if models else [])])
    assert built.success, built.exception or [result.message for result in built.result.results]


def test_a_user_gets_the_load_log_and_nothing_of_the_demo(shop: Path) -> None:
    assert dbtRunner().invoke(["--quiet", "deps"]).success
    log_tests = [f"not_null_scd2_loads_{column}" for column in ("invocation_id", "started_at", "model")]
    assert set(listed()) == {
        "delta_scd2.scd2_loads",
        "delta_scd2.operations.accepted_values_scd2_loads_status__success__error__undone",
        *(f"delta_scd2.operations.{name}" for name in log_tests),
        "shop.customer_extracts",
        "shop.customers_by_city",
        "shop.stg_customers",
        *(f"shop.{model}" for model in MODELS),
        *(f"shop.{test.replace('.', '_')}_{model}_" for test in yaml.safe_load(INVARIANTS) for model in MODELS),
    }
    # dbt's documentation would show the overview of a package for that of the project.
    texts = dbtRunner().invoke(["--quiet", "parse"]).result.docs
    assert "doc.delta_scd2.surrogate_key" in texts
    assert "doc.delta_scd2.__overview__" not in texts


def test_a_package_builds_a_project(shop: Path, spark: SparkSession, edit: Callable[[Path, str, str], None]) -> None:
    """In the session of the tests, whose warehouse and metastore the project so shares."""

    def rows(columns: str, table: str) -> list[tuple]:
        return sorted(tuples(spark.sql(f"select {columns} from {table}").collect()))

    def plans() -> list[tuple]:
        return rows("model, status, plan, opened", "shop_operations.scd2_loads")

    try:
        assert dbtRunner().invoke(["--quiet", "deps"]).success
        build()
        for model in MODELS:
            assert rows("customer_no, name, city, is_current, is_deleted", f"shop.{model}") == [
                ("001", "Ann", "Bath", False, False),
                ("001", "Ann", "York", True, False),
                ("002", "Ben", "Hull", True, True),
            ]
        assert rows("distinct customer_hk", "shop.stg_customers") == rows("distinct customer_hk", "shop.dim_customer")
        assert rows("city, count", "shop.customers_by_city") == [("York", 1)]
        first = [(model, "success", "create", 3) for model in MODELS]
        assert plans() == first

        # The line that was needed once, and the names without a prefix that it allowed, go on as before.
        read_as_its_own(shop, "macros", "tests/generic")
        edit(shop / "models" / "stg_customers.sql", "delta_scd2.hash_key", "hash_key")
        models = shop / "models" / "_shop__models.yml"
        models.write_text(models.read_text().replace("delta_scd2.", ""))
        assert "shop.one_current_row_per_key_dim_customer_" in listed()
        build("stg_customers", "dim_customer")
        assert plans() == sorted([*first, ("dim_customer", "success", "none", 0)])
    finally:
        for schema in ("shop", "shop_operations"):
            spark.sql(f"drop schema if exists {schema} cascade")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The commands of an environment with the wheel of this project and the locked versions of what it needs."""
    wheel = build_wheel(tmp_path / "dist")
    return make_environment(tmp_path / "environment", ROOT / "requirements.lock", wheel)


@pytest.mark.slow
def test_a_wheel_and_a_package_build_a_project(shop: Path, installed: Path, spark: SparkSession) -> None:
    need_overrides(shop)
    warehouse = Path(os.environ["SHOP_HOME"]) / "warehouse"

    def rows(columns: str, table: str) -> list[tuple]:
        return sorted(tuples(spark.sql(f"select {columns} from delta.`{warehouse}/{table}`").collect()))

    def version(table: str) -> int:
        return int(spark.sql(f"describe history delta.`{warehouse}/shop.db/{table}` limit 1").collect()[0]["version"])

    run(installed / "dbt", "deps")
    run(installed / "dbt", "build")
    # The seed keeps its apostrophe, and its empty cell is null.
    expected = [
        ("001", "Ann O'Hara", "Bath", False, False),
        ("001", "Ann O'Hara", "York", True, False),
        ("002", "Ben", None, True, True),
    ]
    before = {}
    for model in MODELS:
        assert rows("customer_no, name, city, is_current, is_deleted", f"shop.db/{model}") == expected
        before[model] = version(model)
    assert rows("city, count", "shop.db/customers_by_city") == [("York", 1)]
    details = spark.sql(f"describe detail delta.`{warehouse}/shop.db/customers_by_city`").collect()[0]
    assert details["partitionColumns"] == ["city"]

    run(installed / "dbt", "build")
    assert {model: version(model) for model in before} == before
    assert rows("model, status, plan, opened", "shop_operations.db/scd2_loads") == [
        ("dim_customer", "success", "create", 3),
        ("dim_customer", "success", "none", 0),
        ("dim_customer_py", "success", "create", 3),
        ("dim_customer_py", "success", "none", 0),
    ]
    assert sorted(path.name for path in warehouse.iterdir()) == ["shop.db", "shop_operations.db"]
