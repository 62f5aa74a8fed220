"""dbt Python models in the session: what they may use and return, how they are written, and how they fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import pytest

from harness import DbtProject, tuples

MakeProject = Callable[[dict[str, str]], DbtProject]

ORDERS_SQL = """
{{ config(materialized='table') }}
select * from values (1, 'north', 10.5D), (2, 'south', 20.0D), (3, null, null) as t(id, region, amount)
"""

SOURCES_YML = """
version: 2
sources:
  - name: silver
    schema: "{{ target.schema }}"
    tables: [{name: regions}]
models:
  - name: described
    description: Orders 🚀, it's said.
    config: {persist_docs: {relation: true}}
"""

READS_EVERYTHING = """
def model(dbt, session):
    dbt.config(materialized="table", tags=["a", "b"])
    orders, regions = dbt.ref("orders"), dbt.source("silver", "regions")
    about = (str(dbt.this), dbt.this.identifier, dbt.is_incremental, ",".join(dbt.config.get("tags")))
    joined = orders.join(regions, "region").selectExpr("id", "label")
    return joined.crossJoin(session.createDataFrame([about], ["this", "identifier", "is_incremental", "tags"]))
"""

# A dataclass with its annotations as strings looks its module up in sys.modules; the worker has no such module.
CALLS_HELPERS = """
from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version
from pyspark.sql import functions as F


@dataclass
class Label:
    text: str

    def shout(self) -> str:
        return self.text.upper() + SUFFIX


SUFFIX = "!"


def label_of(region):
    return Label(region or "none").shout()


def older(version):
    return Version("1.9") < Version(version)


def model(dbt, session):
    shout, newer = F.udf(label_of, "string"), F.udf(older, "boolean")
    return dbt.ref("orders").select("id", shout("region").alias("label"), newer(F.lit("1.10")).alias("newer"))
"""

PANDAS = """
import pandas as pd


def model(dbt, session):
    orders = dbt.ref("orders").orderBy("id").toPandas().set_index("region", drop=False)
    orders["seen_on"] = pd.to_datetime("2024-02-29")
    orders["nothing"] = None
    orders["nothings"] = [[] for _ in orders.index]
    orders["within"] = [{"nothing": None, "counts": [1]} for _ in orders.index]
    orders["rank"] = pd.array(range(len(orders)), dtype="Int64")
    for bits in (8, 16, 32, 64):
        orders[f"u{bits}"] = pd.array([2**bits - 1] * len(orders), dtype=f"UInt{bits}")
    orders["half"] = pd.Series(0.5, index=orders.index, dtype="float16")
    return orders
"""

PANDAS_ON_SPARK = """
def model(dbt, session):
    orders = dbt.ref("orders").pandas_api()
    orders["amount"] = orders["amount"] * 2
    return orders
"""

DESCRIBED = """
def model(dbt, session):
    dbt.config(partition_by="region", tblproperties={"delta.logRetentionDuration": "interval 60 days"})
    return dbt.ref("orders")
"""

# Four models that wait for each other, each with its own idea of a global and of a helper.
MEETS = """
import rendezvous
from pyspark.sql import functions as F

NAME = "{name}"


def who(_):
    return NAME


def model(dbt, session):
    udf = F.udf(who, "string")
    rendezvous.barrier.wait(timeout=600)
    rows = dbt.ref("orders").select("id", udf("id").alias("worker"), F.lit(NAME).alias("driver"))
    rendezvous.barrier.wait(timeout=600)
    return rows
"""

GROWS = """
def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="{strategy}", unique_key="id", {more})
    if not dbt.is_incremental:
        return session.createDataFrame([(1, "old"), (2, "old")], "id int, state string")
    assert session.table(str(dbt.this)).count() == 2
    return session.createDataFrame([(2, "new"), (3, "new")], "id int, state string")
"""


def grows(strategy: str, **more: str) -> str:
    return GROWS.format(strategy=strategy, more=", ".join(f"{name}={value!r}" for name, value in more.items()))


@pytest.fixture(scope="module")
def rendezvous() -> Iterator[None]:
    module: Any = ModuleType("rendezvous")
    module.barrier = Barrier(4)
    sys.modules["rendezvous"] = module
    yield
    del sys.modules["rendezvous"]


@pytest.fixture(scope="module")
def project(
    make_project: MakeProject, rendezvous: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DbtProject, dict[str, Any]]:
    """Every model that succeeds, built at once by four threads."""
    location = str(tmp_path_factory.mktemp("location_root"))
    project = make_project(
        {
            "models/orders.sql": ORDERS_SQL,
            "models/sources.yml": SOURCES_YML,
            "models/reads_everything.py": READS_EVERYTHING,
            "models/calls_helpers.py": CALLS_HELPERS,
            "models/from_pandas.py": PANDAS,
            "models/from_pandas_on_spark.py": PANDAS_ON_SPARK,
            "models/described.py": DESCRIBED,
            "models/appended.py": grows("append", location_root=location),
            "models/merged.py": grows("merge", on_schema_change="fail"),
            **{f"models/meets_{name}.py": MEETS.format(name=name) for name in "abcd"},
        }
    )
    # The source must stand before the models run; `orders` makes the schema.
    project.succeed("run", "--select", "orders")
    project.sql("create table {schema}.regions using delta as select 'north' as region, 'N' as label")
    return project, project.succeed("run", "--threads", "4")


def test_a_model_reads_what_dbt_gives_it(project: tuple[DbtProject, dict[str, Any]]) -> None:
    built, _ = project
    row = built.sql("select * from {schema}.reads_everything")
    name = "reads_everything"
    assert tuples(row) == [(1, "N", f"{built.schema}.{name}", name, False, "a,b")]


def test_a_udf_calls_helpers_of_its_file_and_packages_of_the_environment(
    project: tuple[DbtProject, dict[str, Any]],
) -> None:
    rows = project[0].sql("select * from {schema}.calls_helpers order by id")
    assert tuples(rows) == [(1, "NORTH!", True), (2, "SOUTH!", True), (3, "NONE!", True)]


def test_a_pandas_result_keeps_types_and_nulls(project: tuple[DbtProject, dict[str, Any]]) -> None:
    columns = "typeof(amount), typeof(seen_on), typeof(nothing), typeof(rank), amount, cast(seen_on as string), rank"
    rows = project[0].sql(f"select id, region, {columns} from {{schema}}.from_pandas order by id")
    types = ("double", "timestamp", "string", "bigint")
    assert tuples(rows) == [
        (1, "north", *types, 10.5, "2024-02-29 00:00:00", 0),
        (2, "south", *types, 20.0, "2024-02-29 00:00:00", 1),
        (3, None, *types, None, "2024-02-29 00:00:00", 2),
    ]


def test_what_has_no_value_in_any_row_of_pandas_is_text(project: tuple[DbtProject, dict[str, Any]]) -> None:
    (row,) = project[0].sql("select typeof(nothings), typeof(within) from {schema}.from_pandas where id = 1")
    assert list(row) == ["array<string>", "struct<nothing:string,counts:array<bigint>>"]


def test_a_pandas_number_that_spark_does_not_know_becomes_a_wider_one(
    project: tuple[DbtProject, dict[str, Any]],
) -> None:
    types = {"u8": "smallint", "u16": "int", "u32": "bigint", "u64": "decimal(20,0)", "half": "float"}
    found = ", ".join(f"typeof({name}), cast({name} as string)" for name in types)
    (row,) = project[0].sql(f"select {found} from {{schema}}.from_pandas where id = 1")
    values = [str(2**bits - 1) for bits in (8, 16, 32, 64)] + ["0.5"]
    assert list(row) == [part for pair in zip(types.values(), values, strict=True) for part in pair]


def test_a_pandas_on_spark_result(project: tuple[DbtProject, dict[str, Any]]) -> None:
    rows = project[0].sql("select id, region, amount from {schema}.from_pandas_on_spark order by id")
    assert tuples(rows) == [(1, "north", 21.0), (2, "south", 40.0), (3, None, None)]


def test_a_table_has_the_clauses_of_its_configuration(project: tuple[DbtProject, dict[str, Any]]) -> None:
    (detail,) = project[0].sql("describe detail {schema}.described")
    assert detail["partitionColumns"] == ["region"]
    assert detail["properties"]["delta.logRetentionDuration"] == "interval 60 days"
    assert detail["description"] == "Orders 🚀, it's said."


def test_models_that_run_at_once_stay_apart(project: tuple[DbtProject, dict[str, Any]]) -> None:
    for name in "abcd":
        rows = project[0].sql(f"select distinct worker, driver from {{schema}}.meets_{name}")
        assert tuples(rows) == [(name, name)]


def test_the_result_says_ok(project: tuple[DbtProject, dict[str, Any]]) -> None:
    result = project[1]["from_pandas"]
    assert (result.status, result.message) == ("success", "OK")


def test_nothing_stays_behind(project: tuple[DbtProject, dict[str, Any]]) -> None:
    built, results = project
    assert built.relations() == {*results, "regions"}
    assert not [name for name in sys.modules if name.startswith("model.tested")]


def test_an_incremental_model_appends_and_merges(project: tuple[DbtProject, dict[str, Any]]) -> None:
    built, _ = project
    built.succeed("run", "--select", "appended", "merged")
    appended = built.sql("select id, state from {schema}.appended order by id, state desc")
    assert tuples(appended) == [(1, "old"), (2, "old"), (2, "new"), (3, "new")]
    merged = built.sql("select id, state from {schema}.merged order by id")
    assert tuples(merged) == [(1, "old"), (2, "new"), (3, "new")]
    assert not built.sql("show tables in {schema} like 'appended__dbt_tmp|merged__dbt_tmp'")
    (detail,) = built.sql("describe detail {schema}.appended")
    assert Path(detail["location"]).parent.name == "location_root0"


def test_empty_builds_every_table_without_rows(project: tuple[DbtProject, dict[str, Any]]) -> None:
    built, _ = project
    names = ["reads_everything", "calls_helpers", "from_pandas", "from_pandas_on_spark", "described"]
    built.succeed("run", "--empty", "--threads", "4", "--select", *names)
    for name in names:
        assert built.sql(f"select * from {{schema}}.{name}") == []
    assert [row["col_name"] for row in built.sql("describe table {schema}.from_pandas")] == [
        "id",
        "region",
        "amount",
        "seen_on",
        "nothing",
        "nothings",
        "within",
        "rank",
        "u8",
        "u16",
        "u32",
        "u64",
        "half",
    ]


DATED = """
def model(dbt, session):
    dbt.config(materialized="<materialized>", unique_key="id", effective_at="at")
    return dbt.source("silver", "dated")
"""


def test_a_partial_run_reads_a_part_of_a_source(make_project: MakeProject) -> None:
    yaml = SOURCES_YML.split("models:")[0].replace("name: regions", "name: dated, config: {event_time: at}")
    models = {name: DATED.replace("<materialized>", name) for name in ("table", "scd2")}
    project = make_project(
        {"models/sources.yml": yaml, **{f"models/of_{name}.py": text for name, text in models.items()}}
    )
    project.load("dated", "id int, at timestamp", [(day, datetime(2024, 1, day)) for day in (2, 5)])
    project.succeed("run", "--empty", "--select", "of_table")
    assert project.sql("select * from {schema}.of_table") == []
    project.succeed("run", "--sample", "{start: '2024-01-01', end: '2024-01-03'}")
    for model in ("of_table", "of_scd2"):
        assert project.sql(f"select id from {{schema}}.{model}") == [(2,)]


GOOD = """
def model(dbt, session):
    return session.range(2)
"""

# The blank lines before the first statement are part of the file: the error stands in line 7.
RAISES = """


def helper(row):
    # No such key.

    return row["missing"]


def model(dbt, session):
    return helper({})
"""

# Fails while the table is being written, after many rows: Spark answers with a Java error.
RAISES_LATE = """
from pyspark.sql import functions as F


def strict(number):
    if number == 150_000:
        raise ValueError(f"cannot take {number}")
    return number


def model(dbt, session):
    return session.range(200_000).select(F.udf(strict, "long")("id").alias("id"))
"""

# dbt's own parser accepts this file, Python's compiler does not.
DOES_NOT_COMPILE = """def model(dbt, session):
    return session.range(1)

return 1
"""

RETURNS_A_LIST = """
def model(dbt, session):
    return [1, 2]
"""

QUITS = """
import sys


def model(dbt, session):
    sys.exit("enough")
    return session.range(1)
"""

# A panic of a library in Rust is no `Exception` either.
IS_CANCELLED = """
import asyncio


def model(dbt, session):
    raise asyncio.CancelledError("panic")
    return session.range(1)
"""

# A library that wraps an error of Java.
WRAPS = """
from py4j.protocol import Py4JJavaError


def model(dbt, session):
    try:
        session._jvm.java.lang.Class.forName("no.such.Class")
    except Py4JJavaError as error:
        raise ValueError("no driver") from error
    return session.range(1)
"""

ON_A_CLUSTER = """
def model(dbt, session):
    dbt.config(submission_method="job_cluster")
    return session.range(1)
"""

BROKEN = {
    "raises": RAISES,
    "raises_late": RAISES_LATE,
    "does_not_compile": DOES_NOT_COMPILE,
    "returns_a_list": RETURNS_A_LIST,
    "quits": QUITS,
    "is_cancelled": IS_CANCELLED,
    "wraps": WRAPS,
}


@pytest.fixture(scope="module")
def broken(make_project: MakeProject) -> tuple[DbtProject, dict[str, str]]:
    """Models that fail, each once where no table is and once where a table is, and one that succeeds beside them."""
    first = {f"models/{name}_at_first.py": text for name, text in BROKEN.items()}
    later = {f"models/{name}_later.py": GOOD for name in BROKEN}
    project = make_project({**later, "models/good.py": GOOD})
    project.succeed("run")
    project.write({f"models/{name}_later.py": text for name, text in BROKEN.items()})
    project.write({
        **first,
        "models/on_a_cluster.py": ON_A_CLUSTER,
        "dbt_packages/other/dbt_project.yml": "{name: other, version: 1.0.0, config-version: 2}",
        "dbt_packages/other/models/raises_in_a_package.py": RAISES,
    })  # fmt: skip
    result = project.dbt("run", "--threads", "4")
    return project, {r.node.name: f"{r.status}: {r.message}" for r in result.result.results}


def test_only_the_failing_models_fail(broken: tuple[DbtProject, dict[str, str]]) -> None:
    failed = {name for name, message in broken[1].items() if message.startswith("error")}
    assert failed == {f"{name}_{when}" for name in BROKEN for when in ("at_first", "later")} | {
        "on_a_cluster", "raises_in_a_package"
    }  # fmt: skip


def test_a_failure_leaves_tables_as_they_were(broken: tuple[DbtProject, dict[str, str]]) -> None:
    project, _ = broken
    assert project.relations() == {f"{name}_later" for name in BROKEN} | {"good"}
    for name in BROKEN:
        assert tuples(project.sql(f"select id from {{schema}}.{name}_later order by id")) == [(0,), (1,)]
        assert project.version(f"{name}_later") == 0


def test_a_failed_first_run_is_no_obstacle(broken: tuple[DbtProject, dict[str, str]]) -> None:
    project, _ = broken
    project.write({"models/raises_late_at_first.py": GOOD})
    project.succeed("run", "--select", "raises_late_at_first")
    assert tuples(project.sql("select id from {schema}.raises_late_at_first order by id")) == [(0,), (1,)]


@pytest.mark.parametrize("name", ["raises_at_first", "raises_in_a_package"])
def test_a_traceback_shows_the_file_of_the_person_and_nothing_else(
    broken: tuple[DbtProject, dict[str, str]], name: str
) -> None:
    assert broken[1][name].splitlines() == [
        f"error: Runtime Error in model {name} (models/{name}.py)",
        "  Traceback (most recent call last):",
        f'    File "models/{name}.py", line 11, in model',
        "      return helper({})",
        "             ^^^^^^^^^^",
        f'    File "models/{name}.py", line 7, in helper',
        '      return row["missing"]',
        "             ~~~^^^^^^^^^^^",
        "  KeyError: 'missing'",
    ]


def test_an_error_in_a_worker_is_told_without_java(broken: tuple[DbtProject, dict[str, str]]) -> None:
    message = broken[1]["raises_late_later"]
    assert 'File "models/raises_late_later.py", line 7, in strict' in message
    assert "ValueError: cannot take 150000" in message
    assert "org.apache.spark" not in message.replace("org.apache.spark.api.python.PythonException", "")
    assert len(message.splitlines()) < 15


def test_a_syntax_error_names_file_and_line(broken: tuple[DbtProject, dict[str, str]]) -> None:
    assert broken[1]["does_not_compile_later"].splitlines() == [
        "error: Runtime Error in model does_not_compile_later (models/does_not_compile_later.py)",
        '    File "models/does_not_compile_later.py", line 4',
        "      return 1",
        "      ^^^^^^^^",
        "  SyntaxError: 'return' outside function",
    ]


def test_a_result_of_another_type_is_refused(broken: tuple[DbtProject, dict[str, str]]) -> None:
    assert "TypeError: model() returned builtins.list; a dbt Python model" in broken[1]["returns_a_list_later"]


def test_leaving_the_process_fails_the_model(broken: tuple[DbtProject, dict[str, str]]) -> None:
    assert broken[1]["quits_later"].splitlines()[-1] == "  SystemExit: enough"


def test_what_is_no_exception_fails_the_model_too(broken: tuple[DbtProject, dict[str, str]]) -> None:
    assert broken[1]["is_cancelled_later"].splitlines()[-1] == "  asyncio.exceptions.CancelledError: panic"


def test_an_error_of_java_is_told_in_a_line_where_others_wrap_it(broken: tuple[DbtProject, dict[str, str]]) -> None:
    message = broken[1]["wraps_later"]
    assert message.splitlines()[-1] == "  ValueError: no driver"
    assert "no.such.Class" in message
    assert "at java.base" not in message


def test_another_submission_method_gets_the_code_of_dbt_spark(broken: tuple[DbtProject, dict[str, str]]) -> None:
    project, _ = broken
    sent = Path(project.directory, "target/run/tested/models/on_a_cluster.py").read_text()
    assert "saveAsTable" in sent
    assert "dbt_spark_session" not in sent
