"""Shared fixtures: one Spark for the whole test run, and a dbt project for each test module."""

from __future__ import annotations

import gc
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest
from dbt.adapters.spark.session import Cursor
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from harness import PROJECT_YML, ROOT, DbtProject, session, share_parsed_macros

# The examples of a property are the same in each run, but for the slow tests, which look for new ones. A busy
# machine may take its time for one.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew-golden", action="store_true", help="write the files of golden SQL anew")


@pytest.fixture(scope="session", autouse=True)
def _spark_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the tests' warehouse and metastore separate from the project's."""
    os.environ["DELTA_SCD2_HOME"] = str(tmp_path_factory.mktemp("spark_home"))
    os.environ["DELTA_SCD2_JARS"] = str(ROOT / ".spark" / "jars")
    os.environ["DELTA_SCD2_DRIVER_MEMORY"] = "3g"
    # One Spark plans queries for half an hour; the optimizing compiler saves about a quarter, and a tenth more if
    # it begins at four times its thresholds, as much of what Spark generates runs only for a while.
    os.environ["DELTA_SCD2_JAVA_OPTIONS"] = (
        "-XX:+UseSerialGC -XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=2400"
        " -XX:Tier4CompileThreshold=60000 -XX:Tier4BackEdgeThreshold=160000"
    )
    # PySpark takes times without a zone for those of the process.
    os.environ["TZ"] = "UTC"
    time.tzset()


@pytest.fixture(scope="session")
def _parsed_macros(_spark_home: None) -> None:
    share_parsed_macros()
    # Python would look through all macros again and again for what it can free: a third of an invocation.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="module")
def make_project(tmp_path_factory: pytest.TempPathFactory, _parsed_macros: None) -> Iterator[Callable[..., DbtProject]]:
    """A function that writes a dbt project from {path: text}; its schemas are dropped after the module."""
    made: list[DbtProject] = []

    def make(files: dict[str, str]) -> DbtProject:
        directory: Path = tmp_path_factory.mktemp("project")
        project = DbtProject(directory, schema=f"t_{os.getpid()}_{directory.name}")
        project.write({"dbt_project.yml": PROJECT_YML, **files})
        made.append(project)
        return project

    yield make
    for project in made:
        project.drop()


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The session that dbt uses too, for tests that need Spark without dbt."""
    return session()


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that dbt executes from now on."""
    executed: list[str] = []
    execute = Cursor.execute

    def recorded(cursor: Cursor, sql: str, *parameters: object) -> None:
        executed.append(sql)
        execute(cursor, sql, *parameters)

    monkeypatch.setattr(Cursor, "execute", recorded)
    return executed


@pytest.fixture
def before_statement(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """A function that runs SQL before the first dbt statement that contains a text, which has to come."""
    execute = Cursor.execute
    waiting: dict[str, str] = {}

    def intervene(text: str, query: str) -> None:
        waiting[text] = query

        def intervened(cursor: Cursor, sql: str, *parameters: object) -> None:
            if text in sql and text in waiting:
                session().sql(waiting.pop(text))
            execute(cursor, sql, *parameters)

        monkeypatch.setattr(Cursor, "execute", intervened)

    yield intervene
    assert not waiting


@pytest.fixture
def profile_setting() -> Callable[[str, str], AbstractContextManager[None]]:
    """A context manager in which the profile sets a value, as dbt-spark does for each statement."""

    @contextmanager
    def setting(name: str, value: str) -> Iterator[None]:
        execute = Cursor.execute

        def with_setting(cursor: Cursor, sql: str, *parameters: object) -> None:
            cursor.server_side_parameters = {**cursor.server_side_parameters, name: value}
            execute(cursor, sql, *parameters)

        before = session().conf.get(name, None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Cursor, "execute", with_setting)
            try:
                yield
            finally:
                if before is None:
                    session().conf.unset(name)
                else:
                    session().conf.set(name, before)

    return setting


@pytest.fixture
def time_zone(profile_setting) -> Callable[[str], AbstractContextManager[None]]:
    """A context manager in which dbt's statements run in another session time zone."""
    return partial(profile_setting, "spark.sql.session.timeZone")


@pytest.fixture
def edit() -> Iterator[Callable[[Path, str, str], None]]:
    """A function that replaces the first occurrence of a text in a file until the test ends."""
    before: dict[Path, str] = {}

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert old in text, f"{path} does not hold {old!r}"
        before.setdefault(path, text)
        path.write_text(text.replace(old, new, 1))

    yield replace
    for path, text in before.items():
        path.write_text(text)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """A headless browser; skips the test if none is installed."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no headless browser: install Debian's chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in (
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--window-size=1400,900", f"--user-data-dir={tmp_path}",
    ):  # fmt: skip
        options.add_argument(flag)
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    yield chrome
    chrome.quit()
