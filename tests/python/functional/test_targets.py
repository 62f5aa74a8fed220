"""The other targets, on real servers: a standalone cluster, Spark Connect, a Thrift server, a shared metastore."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness import ROOT, DbtProject
from isolated_warehouse import IsolatedWarehouse
from servers import connect_server, postgresql, postgresql_programs, spark_cluster, thrift_server

pytestmark = pytest.mark.slow

# Commit times of the Silver table, and what is derived from them.
OF_THE_RUN = {
    "dim_product": ["product_sk", "effective_from", "effective_to"],
    "dim_product__events": ["effective_from"],
}
GOLD = {
    "dim_airport",
    "dim_airport_sql",
    "dim_customer",
    "dim_product",
    "dim_product__events",
    "dim_sales",
    "fct_order",
}

MODELS = {
    "models/numbers.sql": "{{ config(materialized='table') }} select id, id * 2 as twice from range(1000)",
    "models/dim_called.py": """
from pyspark.sql import functions as F


def named(value):
    return f"n{value}"


def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="id")
    return dbt.ref("numbers").select("id", F.udf(named, "string")("twice").alias("name"))
""",
    "models/panda.py": """
def model(dbt, session):
    dbt.config(materialized="table")
    return dbt.ref("numbers").toPandas().describe().reset_index()
""",
    "models/panda.yml": """
version: 2
models: [{name: panda, config: {pre_hook: "create table {{ target.schema }}.trace using delta as select 1 as one"}}]
""",
}
CALLED = [(0, "n0", True), (1, "n2", True), (2, "n4", True)]

MEETS = """
import time
from pathlib import Path


def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="id")
    Path("{meeting}/{name}").touch()
    deadline = time.monotonic() + 120
    while len(list(Path("{meeting}").iterdir())) < 2:
        assert time.monotonic() < deadline, "the other run never came"
        time.sleep(0.1)
    return session.createDataFrame([(1, "{name}")], "id int, name string")
"""

RACES = 3
# Both runs read the version that the other one read, as they wait for each other before.
RACED = """
import os
import time
from pathlib import Path


def model(dbt, session):
    dbt.config(
        materialized="scd2", unique_key="id", effective_at="extracted_at", surrogate_key="sequence",
        scd2_columns={{"surrogate_key": "sk"}}
    )
    meeting = Path("{meeting}")
    race = int((meeting / "race").read_text())
    if race:
        (meeting / f"{{race}}_{{os.getpid()}}").touch()
    deadline = time.monotonic() + 120
    while race and len(list(meeting.glob(f"{{race}}_*"))) < 2:
        assert time.monotonic() < deadline, "the other run never came"
        time.sleep(0.1)
    ts = f"timestamp '2024-01-01' + make_dt_interval({{race}}) as extracted_at"
    return session.range(100).selectExpr("id", f"if(id % 10 = 0, {{race}}, 0) as value", ts)
"""

FOLLOWS = """
from delta_scd2 import apply_changelog, changelog, latest_changes


def model(dbt, session):
    dbt.config(materialized="table")
    rows = "as select id, concat('a', id) as value from range(3)"
    session.sql(f"create table dev.followed using delta tblproperties (delta.enableChangeDataFeed = true) {rows}")
    session.sql(f"create table dev.copied using delta {rows}")
    session.sql("update dev.followed set value = 'b' where id = 1")
    session.sql("delete from dev.followed where id = 2")
    parts = [
        changelog(session, "dev.followed", "id", from_version=0, to_version=1),
        changelog(session, "dev.followed", "id", from_version=1),
    ]
    parts[0].unionAll(parts[1]).write.format("delta").saveAsTable("dev.parts")
    deletion = session.read.option("readChangeFeed", "true").option("startingVersion", 2).table("dev.followed")
    table = session.table("dev.followed")
    latest = latest_changes(deletion, "id", change_ordinal="_commit_version", table=table)
    latest.drop("_commit_timestamp").write.format("delta").saveAsTable("dev.latest")
    changes = changelog(session, "dev.followed", "id", from_version=0)
    return session.createDataFrame([apply_changelog(session, "dev.copied", changes, "id")])
"""


def build_demo(place: IsolatedWarehouse, *options: str) -> tuple[datetime, datetime]:
    """Build the demo as `make build` does; when that began and ended."""
    began = datetime.now(UTC)
    place.succeed("build", *options)
    place.succeed("build", "--select", "shop_products+", *options)
    return began, datetime.now(UTC)


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> IsolatedWarehouse:
    """The demo on the embedded target, which the others must equal."""
    place = IsolatedWarehouse(tmp_path_factory.mktemp("dev"), "dev")
    build_demo(place)
    assert place.tables("dev_gold") == GOLD
    return place


@pytest.fixture(scope="module")
def small_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models that need Python on the workers, and a table before them."""
    project = DbtProject(tmp_path_factory.mktemp("project"), "dev")
    project.write(MODELS)
    return project.directory


def server_settings(home: Path) -> dict[str, str]:
    """What the guide says a server has to be started with, on the places of a test."""
    guide = (ROOT / "docs" / "guides" / "from-one-machine-to-a-cluster.md").read_text()
    block = re.search(r"```properties\n(.*?)```", guide, re.DOTALL)
    assert block
    text = (
        block.group(1).replace("/opt/jars", str(ROOT / ".spark" / "jars")).replace("/srv/lake", str(home / "warehouse"))
    )
    settings = dict(line.split(None, 1) for line in text.splitlines())
    options = settings["spark.driver.extraJavaOptions"]
    return {
        **settings,
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/metastore;create=true",
        "spark.driver.extraJavaOptions": f"{options} -Dderby.stream.error.file={home}/derby.log",
        "spark.ui.enabled": "false",
    }


def assert_same_gold(
    place: IsolatedWarehouse, dev: IsolatedWarehouse, built: tuple[datetime, datetime], tables: set[str]
) -> None:
    assert place.tables("dev_gold") == tables
    for name in sorted(tables):
        ours, theirs = (here.table(name).drop(*OF_THE_RUN.get(name, [])) for here in (place, dev))
        assert ours.schema == theirs.schema
        assert ours.count() > 0
        assert ours.exceptAll(theirs).take(3) == theirs.exceptAll(ours).take(3) == [], name
    times = [row[0] for row in place.table("dim_product").selectExpr("unix_micros(effective_from) / 1e6").collect()]
    assert built[0].timestamp() < min(times) < max(times) < built[1].timestamp()


def assert_python_ran(place: IsolatedWarehouse, project: Path) -> None:
    place.succeed("run", project=project)
    called = place.table("dim_called", "dev").where("id < 3").orderBy("id").select("id", "name", "is_current")
    assert [tuple(row) for row in called.collect()] == CALLED
    assert place.table("panda", "dev").where("index = 'max'").first()["twice"] == 1998


def test_a_standalone_cluster(tmp_path: Path, dev: IsolatedWarehouse, small_project: Path) -> None:
    with spark_cluster(tmp_path) as url:
        place = IsolatedWarehouse(
            tmp_path, "cluster", DELTA_SCD2_CLUSTER=url, PYSPARK_PYTHON=sys.executable, DELTA_SCD2_DRIVER_MEMORY="2g"
        )
        assert_python_ran(place, small_project)
        assert_same_gold(place, dev, build_demo(place), GOLD)
    assert "Launching executor" in (tmp_path / "master.log").read_text()


def test_a_spark_connect_server(tmp_path: Path, dev: IsolatedWarehouse, small_project: Path) -> None:
    with connect_server(tmp_path, server_settings(tmp_path)) as url:
        # dbt itself starts no Java.
        place = IsolatedWarehouse(tmp_path, "connect", DELTA_SCD2_REMOTE=url, JAVA_HOME="/nowhere")
        assert_python_ran(place, small_project)
        assert_same_gold(place, dev, build_demo(place), GOLD)


def test_a_changelog_is_read_and_applied_over_spark_connect(tmp_path: Path) -> None:
    directory = tmp_path / "project"
    directory.mkdir()
    DbtProject(directory, "dev").write({"models/effects.py": FOLLOWS})
    with connect_server(tmp_path, server_settings(tmp_path)) as url:
        place = IsolatedWarehouse(tmp_path, "connect", DELTA_SCD2_REMOTE=url, JAVA_HOME="/nowhere")
        place.succeed("run", project=directory)
        assert place.table("effects", "dev").first().asDict() == {"inserted": 0, "updated": 1, "deleted": 1}
        assert sorted(map(tuple, place.table("copied", "dev").collect())) == [(0, "a0"), (1, "b")]
        assert sorted(map(tuple, place.table("parts", "dev").collect())) == [
            (1, "a1", "UPDATE_BEFORE", 1),
            (1, "b", "UPDATE_AFTER", 1),
            (2, "a2", "DELETE", 2),
        ]
        # The table is read beside its feed.
        (latest,) = place.table("latest", "dev").collect()
        assert tuple(latest) == (2, "a2", "delete", 2)


def test_two_runs_at_once_on_one_dimension(tmp_path: Path) -> None:
    meeting, directory = tmp_path / "meeting", tmp_path / "project"
    meeting.mkdir()
    directory.mkdir()
    DbtProject(directory, "dev").write({"models/dim_raced.py": RACED.format(meeting=meeting)})
    with connect_server(tmp_path, server_settings(tmp_path)) as url:
        place = IsolatedWarehouse(tmp_path, "connect", DELTA_SCD2_REMOTE=url, JAVA_HOME="/nowhere")
        (meeting / "race").write_text("0")
        place.succeed("run", project=directory)
        ended = []
        for race in range(1, RACES + 1):
            (meeting / "race").write_text(str(race))
            runs = [place.start("run", project=directory, log=name) for name in ("left", "right")]
            for run in runs:
                output = run.communicate()[0]
                ended.append(run.returncode)
                # Before its MERGE a run finds out by itself that another one wrote, during it Delta does.
                overtaken = "dev.dim_raced changed while this run was reading it" in output or (
                    "DELTA_CONCURRENT_APPEND" in output and "committed at version" in output
                )
                assert overtaken == (run.returncode != 0), output[-3000:]
        versions = place.table("dim_raced", "dev")
        assert versions.where("is_current").count() == 100
        assert versions.count() == versions.select("sk").distinct().count() == 100 + 10 * RACES
    assert ended.count(0) >= RACES
    assert ended.count(1) >= 1


def test_a_thrift_server(tmp_path: Path, dev: IsolatedWarehouse, small_project: Path) -> None:
    with thrift_server(tmp_path, server_settings(tmp_path)) as port:
        place = IsolatedWarehouse(
            tmp_path,
            "thrift",
            DELTA_SCD2_THRIFT_HOST="127.0.0.1",
            DELTA_SCD2_THRIFT_PORT=str(port),
            JAVA_HOME="/nowhere",
        )
        status, output = place.dbt("run", project=small_project)
        assert status == 1
        assert (
            output.count("a Python model cannot run on the target `thrift`, as a Spark Thrift server takes SQL alone")
            == 2
        )
        assert place.tables("dev") == {"numbers"}
        assert_same_gold(place, dev, build_demo(place, "--exclude", "dim_airport+"), GOLD - {"dim_airport"})


def test_two_runs_at_once_on_a_postgresql_metastore(tmp_path: Path) -> None:
    programs = postgresql_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server: install Debian's postgresql")
    meeting, directory = tmp_path / "meeting", tmp_path / "project"
    meeting.mkdir()
    directory.mkdir()
    DbtProject(directory, "dev").write({
        "models/first.sql": "{{ config(materialized='table') }} select 1 as id",
        **{f"models/{name}.py": MEETS.format(name=name, meeting=meeting) for name in ("left", "right")},
    })  # fmt: skip
    password = "it's a secret"  # noqa: S105
    with postgresql(programs, tmp_path / "postgresql.log", password) as port:
        place = IsolatedWarehouse(
            tmp_path,
            "dev",
            DELTA_SCD2_METASTORE_URL=f"jdbc:postgresql://127.0.0.1:{port}/postgres",
            DELTA_SCD2_METASTORE_USER="hive",
            DBT_ENV_SECRET_METASTORE_PASSWORD=password,
        )
        metastore = [sys.executable, ROOT / "scripts" / "make_metastore.py"]
        subprocess.run(metastore, env={**os.environ, **place.environment}, check=True)
        place.succeed("run", "--select", "first", project=directory)
        runs = [place.start("run", "--select", name, project=directory, log=name) for name in ("left", "right")]
        outputs = [run.communicate()[0] for run in runs]
        assert [run.returncode for run in runs] == [0, 0], "\n".join(outputs)[-5000:]
        query = 'select "TBL_NAME" from "TBLS" order by 1'
        url = f"postgresql://hive@127.0.0.1:{port}/postgres"
        listed = subprocess.run(
            ["psql", url, "--tuples-only", "--no-align", "--command", query],
            env={**os.environ, "PGPASSWORD": password}, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert listed.stdout.split() == ["first", "left", "right"]
    assert not (tmp_path / "metastore").exists()
    assert password not in "".join(outputs)
