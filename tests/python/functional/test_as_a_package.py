"""The project of integration_tests, which installs this one: what dbt reads there, and what two builds make."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from harness import INVARIANTS, ROOT, tuples
from shop import build_wheel, copy_shop, make_environment, run


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, with an empty warehouse beside it."""
    directory = copy_shop(tmp_path)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(directory))
    monkeypatch.setenv("DELTA_JARS", str(ROOT / ".spark" / "jars"))
    monkeypatch.setenv("SHOP_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(directory)
    return directory


def test_a_user_gets_the_load_log_and_nothing_of_the_demo(shop: Path) -> None:
    assert dbtRunner().invoke(["--quiet", "deps"]).success
    # A warning here would be one in every project that installs this one: of dbt's deprecations, or of the demo.
    listed = dbtRunner().invoke(["--quiet", "--warn-error", "ls", "--resource-type", "all"])
    assert listed.success, listed.exception
    assert listed.result is not None
    models = ["dim_customer", "dim_customer_py"]
    log_tests = [f"not_null_scd2_loads_{column}" for column in ("invocation_id", "started_at", "model")]
    assert set(listed.result) == {
        "delta_scd2.scd2_loads",
        "delta_scd2.operations.accepted_values_scd2_loads_status__success__error__undone",
        *(f"delta_scd2.operations.{name}" for name in log_tests),
        "shop.customer_extracts",
        "shop.customers_by_city",
        *(f"shop.{model}" for model in models),
        *(f"shop.{test}_{model}_" for test in yaml.safe_load(INVARIANTS) for model in models),
    }


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The commands of an environment with the wheel of this project and the locked versions of what it needs."""
    wheel = build_wheel(tmp_path / "dist")
    return make_environment(tmp_path / "environment", ROOT / "requirements.lock", wheel)


@pytest.mark.slow
def test_a_wheel_and_a_package_build_a_project(
    shop: Path, installed: Path, spark: SparkSession, edit: Callable[[Path, str, str], None]
) -> None:
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
    for model in ("dim_customer", "dim_customer_py"):
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

    edit(shop / "dbt_project.yml", "macro-paths", "# macro-paths")
    (shop / "models" / "_shop__models.yml").unlink()
    refused = subprocess.run([installed / "dbt", "build"], capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "installs delta_scd2 but does not read its macros: write 'macro-paths: [macros, " in refused.stdout
