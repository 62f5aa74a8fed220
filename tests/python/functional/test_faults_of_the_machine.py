"""Two processes on one embedded metastore, and a metastore that is gone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_spark_session.metastore import hold
from harness import DbtProject, session, tuples
from isolated_warehouse import IsolatedWarehouse

HOLD = """
import json, sys
from dbt_spark_session.metastore import hold

hold(json.loads(sys.argv[1]))
print("held", flush=True)
input()
"""

WAITS = """
import time
from pathlib import Path


def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="id")
    Path("{directory}/begun").touch()
    deadline = time.monotonic() + 200
    while not Path("{directory}/go_on").exists():
        assert time.monotonic() < deadline, "nobody came"
        time.sleep(0.1)
    return session.createDataFrame([(1, "a")], "id int, name string")
"""
DIMENSION = """
{{ config(materialized='scd2', unique_key='id', source_kind='changelog', effective_at='at', change_type='kind') }}
select *, timestamp '2024-01-01' as at, 'update' as kind from {{ ref('people') }}
{% if var('later', false) %}
union all
select 1, 'Bern', timestamp '2024-01-02', 'update'
{% endif %}
"""


def settings(metastore: Path) -> dict[str, str]:
    return {
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={metastore};create=true",
        "spark.sql.warehouse.dir": f"{metastore.parent}/warehouse",
    }


def test_a_metastore_is_held_by_one_process(tmp_path: Path) -> None:
    parameters = settings(tmp_path / "home" / "metastore")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, json.dumps(parameters)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with pytest.raises(DbtRuntimeError) as error:
            hold(parameters)
        for part in (f"another process ({other.pid}) is using the warehouse {tmp_path}/home/warehouse", "Remedy: wait"):
            assert part in str(error.value)
        with pytest.raises(DbtRuntimeError, match="is using the warehouse s3a://lake/warehouse: "):
            hold({**parameters, "spark.sql.warehouse.dir": "s3a://lake/warehouse"})
        hold(settings(tmp_path / "elsewhere"))
        hold({"spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:postgresql://localhost/postgres"})
        hold({})
        other.communicate("\n")
    hold(parameters)
    hold(parameters)


@pytest.mark.slow
def test_the_second_run_on_an_embedded_metastore_is_told_who_holds_it(tmp_path: Path) -> None:
    directory = tmp_path / "project"
    directory.mkdir()
    DbtProject(directory, "dev").write({"models/dim_waits.py": WAITS.format(directory=tmp_path)})
    place = IsolatedWarehouse(tmp_path, "dev")
    first = place.start("run", project=directory)
    deadline = time.monotonic() + 200
    while not (tmp_path / "begun").exists():
        assert first.poll() is None, first.communicate()[0][-5000:]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    second = place.start("run", project=directory, log="second")
    output, _ = second.communicate()
    (tmp_path / "go_on").touch()
    log, _ = first.communicate()
    assert first.returncode == 0, log[-5000:]
    assert second.returncode == 2
    assert f"is using the warehouse {tmp_path}/warehouse" in output
    assert "serves one process at a time" in output
    for noise in ("java", "derby.", "Traceback"):
        assert noise not in output
    place.succeed("run", project=directory)


@pytest.mark.slow
def test_a_lost_metastore_gets_its_tables_back(tmp_path: Path) -> None:
    directory = tmp_path / "project"
    directory.mkdir()
    DbtProject(directory, "dev").write({
        "models/dim_people.sql": DIMENSION,
        "seeds/people.csv": "id,city\n1,Chur\n2,Visp\n",
    })  # fmt: skip
    # Spark writes such a place with escapes, and hides settings that hold the word url.
    home = tmp_path / "curly 100% + home"
    home.mkdir()
    place = IsolatedWarehouse(home, "dev")
    place.succeed("build", project=directory)
    shutil.rmtree(home / "metastore")
    log = home / "warehouse" / "dev.db" / "dim_people" / "_delta_log"
    commits = {path.name for path in log.iterdir()}

    status, output = place.dbt("build", project=directory)
    assert status == 1
    assert "dim_people: the catalog knows no table dev.dim_people" in output
    assert "dbt run-operation register_tables" in output
    assert {path.name for path in log.iterdir()} == commits

    place.succeed("run-operation", "register_tables", project=directory)
    place.succeed("build", "--vars", "{later: true}", project=directory)
    rows = session().read.format("delta").load(str(log.parent)).orderBy("id", "effective_from")
    assert tuples(rows.select("id", "city", "is_current").collect()) == [
        (1, "Chur", False), (1, "Bern", True), (2, "Visp", True),
    ]  # fmt: skip
    assert commits < {path.name for path in log.iterdir()}
    assert place.tables("dev") == {"people", "dim_people", "dim_people__events"}
