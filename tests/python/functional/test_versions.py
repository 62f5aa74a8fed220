"""The versions of dbt and Spark that pyproject.toml lets in, each pair in an environment of its own."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness import INVARIANTS, ROOT, tuples
from shop import UV, build_wheel, copy_shop, make_environment, need_overrides, run

pytestmark = pytest.mark.slow

LOCK = ROOT / "requirements.lock"

DELTA = "4.4.0"
# What is written of them stands in docs/guides/versions.md.
TESTED = [
    *((dbt, spark, "3.11") for spark in ("4.0.5", "4.1.4", "4.2.0") for dbt in ("1.11.16", "1.10.23", "1.12.6")),
    *(("1.11.16", "4.2.0", python) for python in ("3.12", "3.13")),
]
# dbt-core 1.12 does without it, and its installation brings a program from outside the package index.
OVERRIDE = 'dbt-core-experimental-parser ; sys_platform == "none"\n'

# Runs dbt's commands in one process, because to start Spark is what takes time.
DBT = """
import json, sys
from dbt.cli.main import dbtRunner

for command in json.loads(sys.argv[1]):
    if not dbtRunner().invoke(command).success:
        sys.exit("failed: dbt " + " ".join(command))
"""

MODELS = {
    # a copy that a changelog keeps, and that records its own changes
    "products.sql": """
        {{ config(
            materialized='scd1',
            unique_key='product_no',
            change_type='operation',
            change_ordinal='change_no',
            tblproperties={'delta.enableChangeDataFeed': 'true'},
        ) }}

        select *
        from values
            {%- if var('day', 1) == 1 %}
            (1, 'I', 'A', 10), (2, 'I', 'B', 20)
            {%- else %}
            (3, 'U', 'A', 11), (4, 'D', 'B', 20)
            {%- endif %}
            as changes (change_no, operation, product_no, price)
    """,
    "dim_product.sql": """
        {{ config(
            materialized='scd2',
            source_kind='changelog',
            unique_key='product_no',
            effective_at='_commit_timestamp',
            sequence_by='_commit_version',
        ) }}

        {{ delta_scd2.changes_since_last_run(ref('products')) }}
    """,
    "_products.yml": f"models: [{{name: dim_product, data_tests: {INVARIANTS}}}]\n",
}

# Ann moves, Ben stays away, and Cid is new.
NEXT_EXTRACT = """
2024-03-01 00:00:00,001,Ann O'Hara,Hull
2024-03-01 00:00:00,003,Cid,Bath
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this project."""
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that makes an environment with the wheel and a version of dbt-core, of Spark and of Python."""

    def make(dbt: str, spark: str, python: str) -> Path:
        environment = tmp_path_factory.mktemp("environment")
        # What is asked for instead of the locked version, and what other versions of dbt-core want in another one.
        free = ("dbt-core==", "pyspark==", "sqlparse==", "mashumaro==", "networkx==", "pathspec==")
        pins = re.findall(r"^[\w.-]+==\S+(?: ; [^\\\n]+)?", LOCK.read_text(), flags=re.MULTILINE)
        constraints = environment / "constraints.txt"
        constraints.write_text("\n".join(pin for pin in pins if not pin.startswith(free)))
        overrides = environment / "overrides.txt"
        overrides.write_text(OVERRIDE)
        asked = ("--override", overrides, wheel, f"dbt-core=={dbt}", f"pyspark=={spark}")
        return make_environment(environment / "venv", constraints, *asked, python=python) / "python"

    return make


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Path, str, str], None]) -> Path:
    """A copy of the project of integration_tests with more models, which lets Spark resolve Delta as the guide says."""
    directory = copy_shop(tmp_path)
    need_overrides(directory)
    for name, text in MODELS.items():
        (directory / "models" / name).write_text(text)
    edit(
        directory / "profiles.yml",
        "spark.driver.extraClassPath: \"{{ env_var('DELTA_JARS') }}/*\"",
        "spark.jars.packages: \"{{ env_var('DELTA_PACKAGE') }}\"\n"
        f"        spark.jars.ivy: {ROOT / '.spark' / 'ivy_of_versions'}",
    )
    monkeypatch.setenv("DBT_PROFILES_DIR", str(directory))
    monkeypatch.setenv("SHOP_HOME", str(tmp_path / "home"))
    return directory


@pytest.mark.parametrize(("dbt", "spark_version", "python_version"), TESTED)
def test_a_project_keeps_its_history_under(
    dbt: str,
    spark_version: str,
    python_version: str,
    shop: Path,
    install: Callable[..., Path],
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    python = install(dbt, spark_version, python_version)
    # Each minor version of Spark has a jar of its own.
    spark_minor = spark_version.rpartition(".")[0]
    monkeypatch.setenv("DELTA_PACKAGE", f"io.delta:delta-spark_{spark_minor}_2.13:{DELTA}")
    warehouse = shop.parent / "home" / "warehouse"

    def dbt_runs(*commands: list[str]) -> None:
        run(python, "-c", DBT, json.dumps(commands), cwd=shop)

    def rows(columns: str, table: str) -> list[tuple]:
        return sorted(tuples(spark.sql(f"select {columns} from delta.`{warehouse}/{table}`").collect()))

    def customers(model: str) -> list[tuple]:
        return rows("customer_no, city, date(effective_from) as since, is_current, is_deleted", f"shop.db/{model}")

    # The first build, the same once more, and none of dbt's deprecations.
    dbt_runs(["deps"], ["--quiet", "--warn-error", "ls"], ["build"], ["build"])
    first = customers("dim_customer")
    assert [(row[0], row[1], *row[3:]) for row in first] == [
        ("001", "Bath", False, False),
        ("001", "York", True, False),
        ("002", None, True, True),
    ]
    assert customers("dim_customer_py") == first
    assert rows("city, count", "shop.db/customers_by_city") == [("York", 1)]
    assert rows("product_no, price, is_current, is_deleted", "shop.db/dim_product") == [
        ("A", 10, True, False),
        ("B", 20, True, False),
    ]
    (newest,) = spark.sql(f"describe history delta.`{warehouse}/shop.db/dim_customer` limit 1").collect()
    assert newest["engineInfo"] == f"Apache-Spark/{spark_version} Delta-Lake/{DELTA}"

    # The next extract and the next changes, of which dim_customer takes its own back.
    with (shop / "seeds" / "customer_extracts.csv").open("a") as seed:
        seed.write(NEXT_EXTRACT.lstrip())
    dbt_runs(
        ["build", "--vars", "day: 2"], ["run-operation", "undo_load", "--args", "{model: dim_customer, apply: true}"]
    )
    assert customers("dim_customer") == first
    assert [(row[0], row[1], *row[3:]) for row in customers("dim_customer_py")] == [
        ("001", "Bath", False, False),
        ("001", "Hull", True, False),
        ("001", "York", False, False),
        ("002", None, True, True),
        ("003", "Bath", True, False),
    ]
    assert rows("product_no, price, is_current, is_deleted", "shop.db/dim_product") == [
        ("A", 10, False, False),
        ("A", 11, True, False),
        ("B", 20, True, True),
    ]
    last_plans = {"dim_customer": "staged", "dim_customer_py": "staged", "dim_product": "compared"}
    loads = [(model, "success", plan) for model, last in last_plans.items() for plan in ("create", "none", last)]
    assert rows("model, status, plan", "shop_operations.db/scd2_loads") == sorted(
        [*loads, ("dim_customer", "undone", None)]
    )


def resolved(wheel: Path, asked: str, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """What an installer chooses for the wheel and what is asked for beside it."""
    quiet = ("--no-header", "--no-annotate", "--no-emit-index-url")
    return subprocess.run(
        [UV, "pip", "compile", *quiet, "--python-version", "3.11", *options, "-"],
        input=f"delta-scd2 @ {wheel.as_uri()}\n{asked}\n",
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("asked", "spark_minor"), [("", "4.2"), ("pyspark==4.1.*", "4.1"), ("pyspark==4.0.*", "4.0")])
def test_an_installer_chooses_a_delta_that_fits(wheel: Path, asked: str, spark_minor: str, tmp_path: Path) -> None:
    (tmp_path / "overrides.txt").write_text(OVERRIDE)
    chosen = resolved(wheel, asked, "--override", tmp_path / "overrides.txt")
    assert chosen.returncode == 0, chosen.stderr
    versions = dict(line.split("==") for line in chosen.stdout.splitlines() if line.count("==") == 1)
    assert versions["pyspark"].startswith(spark_minor + ".")
    assert versions["delta-spark"] == DELTA
    assert versions["dbt-core"].startswith("1.12.")


def test_from_the_package_index_alone_one_package_of_dbt_is_missing(wheel: Path) -> None:
    chosen = resolved(wheel, "dbt-core==1.12.*")
    if chosen.returncode != 0:
        assert "dbt-core-experimental-parser" in chosen.stderr
        pytest.skip("dbt-core-experimental-parser does not install here; the other tests leave it out")
    assert "dbt-core==1.12." in chosen.stdout


@pytest.mark.parametrize(
    "asked",
    [
        "dbt-core==1.9.*",
        "dbt-core==1.13.*",
        "pyspark==3.5.*",
        "pyspark==4.2.1",
        "pyspark==4.3.*",
        "delta-spark==4.3.1",
        "delta-spark==4.4.1",
    ],
)
def test_an_installer_refuses(wheel: Path, asked: str) -> None:
    chosen = resolved(wheel, asked)
    assert chosen.returncode != 0
    assert "No solution found" in chosen.stderr
    assert "delta-scd2" in chosen.stderr
