"""A dbt project in a temporary directory, run in this process on the real Spark and Delta of the `dev` target."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from dbt.cli.main import dbtRunner, dbtRunnerResult
from dbt.contracts.graph.manifest import Manifest
from dbt.parser.manifest import ManifestLoader, extended_mashumuro_decoder
from jinja2 import Template
from pyspark.sql import SparkSession
from pyspark.sql.types import Row

ROOT = Path(__file__).resolve().parents[2]

# Without artifacts, which take as long as the rest of what dbt does around a small load.
PROJECT_YML = """
name: tested
version: 1.0.0
config-version: 2
profile: delta_scd2
macro-paths: [macros, dbt_packages/delta_scd2/macros/overrides]
test-paths: [tests]
flags: {send_anonymous_usage_stats: false, use_colors: false, write_json: false}
models: {tested: {+file_format: delta}}
seeds: {tested: {+file_format: delta}}
snapshots: {tested: {+file_format: delta}}
"""

# Extracts are searched for changed keys as those of a large dimension are, however small the tables.
SEARCH = "vars: {scd2_read_twice_from: 0}\n"

# What the statement says that keeps the rows of one step of a load.
STAGES = "keeps rows as {schema}__{model}__scd2_{step}__"

# What holds for every dimension after every run, as YAML.
INVARIANTS = (
    "[delta_scd2.one_current_row_per_key, delta_scd2.no_overlapping_validity, delta_scd2.valid_intervals, "
    "delta_scd2.versions_differ, delta_scd2.deleted_rows_closed]"
)


def session() -> SparkSession:
    """The Spark session with the settings of the `dev` target; the first call starts it."""
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    outputs = yaml.safe_load((ROOT / "profiles.yml").read_text())["delta_scd2"]["outputs"]
    builder = SparkSession.builder.enableHiveSupport()
    for name, value in outputs["dev"]["server_side_parameters"].items():
        builder = builder.config(name, Template(value).render(env_var=os.environ.get))
    return builder.getOrCreate()


def install(directory: Path) -> None:
    """Do what `dbt deps` does, but for the models, which dbt reads under the tests' profile, and for the hooks."""
    package = directory / "dbt_packages" / "delta_scd2"
    (package / "tests").mkdir(parents=True)
    for name in ("macros", "tests/generic"):
        (package / name).symlink_to(ROOT / name)
    settings = yaml.safe_load((ROOT / "dbt_project.yml").read_text())
    without_hooks = {name: value for name, value in settings.items() if not name.startswith("on-run-")}
    (package / "dbt_project.yml").write_text(yaml.safe_dump(without_hooks))


def share_parsed_macros() -> None:
    """Let every project begin with the macros of the package parsed, which dbt keeps for each project and its `--vars`.

    A project with hooks parses all, because they stand in a file of which dbt keeps no parts.
    """
    with TemporaryDirectory() as directory:
        DbtProject(Path(directory), "none").succeed("parse")
        parsed = (Path(directory) / "target" / "partial_parse.msgpack").read_bytes()
    read = ManifestLoader.read_manifest_for_partial_parse

    def read_or_share(loader: ManifestLoader) -> Manifest | None:
        saved = read(loader)
        project = loader.root_project
        if saved is not None or project.project_name != "tested" or project.on_run_start or project.on_run_end:
            return saved
        shared: Manifest = Manifest.from_msgpack(parsed, decoder=extended_mashumuro_decoder)
        shared.state_check = loader.manifest.state_check
        return shared

    ManifestLoader.read_manifest_for_partial_parse = read_or_share


class DbtProject:
    """A project with its own models and its own schema, which installs this repository as a package."""

    def __init__(self, directory: Path, schema: str) -> None:
        self.directory = directory
        self.schema = schema
        if not (directory / "dbt_project.yml").exists():
            install(directory)
            self.write({"dbt_project.yml": PROJECT_YML})

    def write(self, files: dict[str, str]) -> None:
        """Write files by path relative to the project; an existing file is replaced."""
        for name, text in files.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def dbt(self, *args: str) -> dbtRunnerResult:
        """Run dbt, for example `project.dbt("build", "--select", "dim_x")`."""
        os.environ["DELTA_SCD2_SCHEMA"] = self.schema
        places = ["--project-dir", str(self.directory), "--profiles-dir", str(ROOT)]
        arguments = [*args, *places, "--log-level-file", "none"]
        return dbtRunner().invoke(arguments)

    def succeed(self, *args: str) -> dict[str, Any]:
        """Run dbt, insist on success, and return the node results by name."""
        result = self.dbt(*args)
        results = list(getattr(result.result, "results", None) or [])
        problems = [f"{r.node.name}: {r.message}" for r in results if r.status in ("error", "fail", "warn")]
        assert result.success, "\n".join(problems) or repr(result.exception)
        return {r.node.name: r for r in results}

    def fail(self, *args: str) -> str:
        """Run dbt, insist on failure, and return the messages of what failed, by name: models end in any order."""
        result = self.dbt(*args)
        assert not result.success, "dbt succeeded where an error was expected"
        if result.exception is not None:
            return str(result.exception)
        failed = [r for r in result.result.results if r.status in ("error", "fail")]
        return "\n".join(str(r.message) for r in sorted(failed, key=lambda r: r.node.name))

    def sql(self, query: str) -> list[Row]:
        """The rows of a query; `{schema}` stands for the project's schema."""
        return list(session().sql(query.replace("{schema}", self.schema)).collect())

    def load(self, table: str, ddl: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Replace a Delta table of the project's schema, as a source that the models read."""
        spark = session()
        spark.sql(f"create schema if not exists {self.schema}")
        frame = spark.createDataFrame(list(rows), ddl)
        frame.coalesce(1).write.format("delta").mode("overwrite").option("overwriteSchema", "true").saveAsTable(
            f"{self.schema}.{table}"
        )

    def version(self, table: str) -> int:
        """The newest Delta version of a table in the project's schema."""
        warehouse = Path(session().conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
        log = warehouse / f"{self.schema}.db" / table.lower() / "_delta_log"
        versions = [int(file.stem) for file in log.glob("*.json") if file.stem.isdigit()]
        if versions:
            return max(versions)
        # The table lies elsewhere.
        return int(self.sql(f"describe history {{schema}}.{table} limit 1")[0]["version"])

    def age(self, table: str, when: datetime) -> None:
        """Date the commits of a table back, as if they had all been made at a time in the past."""
        location = self.sql(f"describe detail {{schema}}.{table}")[0].location
        for file in Path(location.removeprefix("file:"), "_delta_log").iterdir():
            os.utime(file, (when.timestamp(), when.timestamp()))

    def relations(self) -> set[str]:
        """The tables of the project's schema, and the temporary views of the session that carry its name."""
        found = self.sql("show tables in {schema}")
        return {
            row.tableName
            for row in found
            if row.namespace == self.schema or row.tableName.startswith(f"{self.schema}__")
        }

    def staged(self, model: str = "") -> list[str]:
        """The staged tables of the project's schema, and what Spark keeps for its models."""
        found = self.sql(f"show tables in {{schema}} like '*{model}__scd2_*'")
        return [row.tableName for row in found if not row.isTemporary or row.tableName.startswith(f"{self.schema}_")]

    def properties(self, table: str) -> dict[str, str]:
        """The properties of a table in the project's schema."""
        return {row.key: row.value for row in self.sql(f"show tblproperties {{schema}}.{table}")}

    def history(self, dimension: str, columns: str = "*", where: str = "true") -> list[tuple[Any, ...]]:
        """Columns of all versions of a dimension, by key and beginning."""
        query = f"select {columns} from {{schema}}.{dimension} where {where} order by id, effective_from"
        return tuples(self.sql(query))

    def drop(self) -> None:
        for row in session().sql("show databases").collect():
            if row[0] == self.schema or row[0].startswith(self.schema + "_"):
                session().sql(f"drop schema `{row[0]}` cascade")
        # Delta would keep the states of the tables for an hour, and Java would look through them again and again.
        session()._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def model_in(language: str, name: str, options: str, query: str) -> dict[str, str]:
    """The file of a model in SQL or Python, with the same options and rows; `{schema}` stands for the target's."""
    if language == "sql":
        query = query.replace("{schema}", "{{ target.schema }}")
        return {f"models/{name}.sql": f"{{{{ config({options}) }}}}\n{query}"}
    query = query.replace("{schema}", "{dbt.this.schema}")
    body = f'    dbt.config({options})\n    return session.sql(f"""{query}""")\n'
    return {f"models/{name}.py": f"def model(dbt, session):\n{body}"}


STEPWISE = """
{{{{ config(materialized='scd2', unique_key='id', effective_at='at', {options}) }}}}
{{% set columns, rows = {steps}.get(var('step'), ('', '')) %}}
select * except (day), make_timestamp(2024, 1, day, 0, 0, 0) as at{change_type}
from values {{{{ rows }}}} as given (id, day{{{{ ', ' ~ columns if columns }}}})
where {{{{ var('has_rows', true) }}}}
"""


def stepwise(steps: dict[str, tuple[str, dict[int, tuple[str, str]]]]) -> dict[str, str]:
    """Models that change with the variable `step`: by name the options, and for each step columns and rows.

    Each row begins with its key and a day of January 2024.
    """
    return {
        f"models/{name}.sql": STEPWISE.format(
            options=options, steps=by_step, change_type=", 'u' as _change_type" if "changelog" in options else ""
        )
        for name, (options, by_step) in steps.items()
    }


def copy_demo(directory: Path) -> None:
    """Copy what dbt and dbt-bouncer read of this repository, so that a test can change it."""
    for name in ("models", "macros", "seeds", "snapshots", "data", "scripts", "tests/generic", "tests/singular"):
        shutil.copytree(ROOT / name, directory / name)
    for name in ("dbt_project.yml", "profiles.yml", "dbt-bouncer.yml"):
        shutil.copy(ROOT / name, directory / name)


def tuples(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    """Rows as plain tuples, which pytest compares and prints well."""
    return [tuple(row) for row in rows]


def at(second: int) -> datetime:
    """A time on the first day of 2024."""
    return datetime(2024, 1, 1) + timedelta(seconds=second)


def micros(ts: datetime) -> int:
    """The microseconds since the epoch of a time in UTC, with its zone or without."""
    return (ts - datetime(1970, 1, 1, tzinfo=ts.tzinfo)) // timedelta(microseconds=1)


def with_open_ends(rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Versions with None in place of the end that stands for an open one."""
    return [tuple(None if isinstance(v, datetime) and v.year == 9999 else v for v in row) for row in rows]
