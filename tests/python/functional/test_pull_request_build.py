"""`make state` on main and `make pr` on a branch, as they stand: dbt's own processes on a copy of the project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import copy_demo
from state import State

Edit = Callable[[Path, str, str], None]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def main(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as main has it, with its state kept."""
    directory = tmp_path_factory.mktemp("project")
    copy_demo(directory)
    assert State(directory).keep() == 0
    return directory


def results(directory: Path, *kinds: str) -> dict[str, str]:
    """The messages of the last run's nodes of some kinds by name."""
    run = json.loads((directory / "target" / "run_results.json").read_text())
    return {
        result["unique_id"].split(".")[2]: result["message"]
        for result in run["results"]
        if result["unique_id"].split(".")[0] in (kinds or ("model", "seed", "snapshot"))
    }


def test_a_branch_builds_what_it_changed_on_the_tables_of_main(main: Path, edit: Edit) -> None:
    edit(main / "models/staging/shop/stg_shop__orders.sql", "    region,", "    upper(region) as region,")
    assert State(main).build(rebuild=False) == 0
    assert set(results(main)) == {"stg_shop__orders", "fct_order"}


def test_a_branch_tests_what_it_changed_beside_what_it_did_not(main: Path, edit: Edit) -> None:
    edit(main / "models/gold/dim_customer.sql", "select * from", "select *\nfrom")
    assert State(main).build(rebuild=False) == 0
    assert "expected_dim_customer" not in results(main)
    assert [name for name in results(main, "test") if name.startswith("delta_scd2_equals_dim_customer_")]


def test_a_branch_meets_the_history_of_main(main: Path, edit: Edit) -> None:
    edit(main / "models/gold/dim_sales.sql", "surrogate_key='sequence'", "surrogate_key='hash'")
    assert State(main).build(rebuild=False) == 1
    assert "surrogate_key" in results(main)["dim_sales"]
    assert State(main).build(rebuild=True) == 0
    assert results(main)["dim_sales"].startswith("CREATE ")


def test_a_branch_without_a_state_builds_everything(main: Path, capfd: pytest.CaptureFixture[str]) -> None:
    State(main).made_in.write_text("/elsewhere")
    assert State(main).build(rebuild=False) == 0
    assert "so everything is built" in capfd.readouterr().out
    assert {"shop_orders", "dim_airport", "fct_order", "snap_airports"} <= set(results(main))
