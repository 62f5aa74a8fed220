"""How the package registers with dbt-spark, converts results and tells errors, without a Spark."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyspark
import pytest
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark import SparkAdapter
from dbt.plugins import PluginManager

from dbt_spark_session import to_spark_dataframe
from dbt_spark_session.job import SessionPythonJobHelper
from dbt_spark_session.model_code import describe, execute
from dbt_spark_session.registration import check_installation, extend, is_on_a_server
from dbt_spark_session.session import CancellableSession
from shop import build_wheel


def connected_by(adapter: type, method: str) -> Any:
    """An adapter of a profile with this method; its constructor would need a whole dbt configuration."""
    instance: Any = adapter.__new__(adapter)
    instance.connections = SimpleNamespace(profile=SimpleNamespace(credentials=SimpleNamespace(method=method)))
    return instance


class AdapterOfTomorrow:
    """A dbt-spark that runs Python models in the session by itself."""

    @property
    def python_submission_helpers(self) -> dict[str, type]:
        return {"session": dict, "job_cluster": list}

    @property
    def default_python_submission_method(self) -> str:
        return "job_cluster"


def test_dbt_finds_the_package_at_start_up() -> None:
    assert "dbt_spark_session" in PluginManager.get_prefixed_modules()


def test_the_helper_stands_beside_those_of_dbt_spark() -> None:
    helpers = connected_by(SparkAdapter, "session").python_submission_helpers
    assert helpers["session"] is SessionPythonJobHelper
    assert {"job_cluster", "all_purpose_cluster"} < set(helpers)


@pytest.mark.parametrize(("method", "default"), [("session", "session"), ("thrift", "all_purpose_cluster")])
def test_only_the_session_method_gets_another_default(method: str, default: str) -> None:
    assert connected_by(SparkAdapter, method).default_python_submission_method == default


@pytest.mark.parametrize(
    ("method", "parameters", "keeps"),
    [
        ("session", {"spark.master": "local[*]"}, True),
        ("session", {"spark.master": "spark://driver:7077"}, False),
        ("session", {"spark.remote": "sc://server"}, False),
        ("session", None, False),
        ("thrift", {"spark.master": "local"}, False),
    ],
)
def test_rows_are_kept_where_no_executor_can_be_lost(method: str, parameters: dict | None, keeps: bool) -> None:
    adapter = connected_by(SparkAdapter, method)
    adapter.connections.profile.credentials.server_side_parameters = parameters
    assert "keeps_rows" in adapter._available_
    assert adapter.keeps_rows() is keeps


def test_a_helper_of_dbt_spark_itself_wins() -> None:
    extend(AdapterOfTomorrow)
    adapter = connected_by(AdapterOfTomorrow, "session")
    assert adapter.python_submission_helpers == {"session": dict, "job_cluster": list}
    assert adapter.default_python_submission_method == "job_cluster"


@pytest.mark.parametrize(
    ("module", "content", "warnings"),
    [
        ("dbt.adapters.spark", "None", 0),
        ("dbt.adapters.spark", "types.ModuleType('dbt.adapters.spark')", 1),
        ("dbt.adapters.spark", "types.SimpleNamespace(SparkAdapter=object)", 1),
    ],
    ids=["no dbt-spark", "no adapter class", "no helpers"],
)
def test_another_dbt_spark_costs_one_warning_at_most(module: str, content: str, warnings: int) -> None:
    code = f"import sys, types; sys.modules[{module!r}] = {content}; import dbt_spark_session"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("RuntimeWarning: dbt Python models cannot run in the Spark session") == warnings


def test_a_result_that_is_no_dataframe_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"returned builtins\.dict; .* a Spark, pandas-on-Spark or pandas DataFrame"):
        to_spark_dataframe({}, None)  # type: ignore[arg-type]


def run(tmp_path: Path, text: str, after: str = "") -> dict[str, Any]:
    """Write a model's file, execute it as dbt submits it, and return what it left in `seen`."""
    file = tmp_path / "models" / "m.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    seen: dict[str, Any] = {}
    execute("model.p.m", file, text.strip(), f"\n{text.strip()}\n\n{after}", {"seen": seen})
    return seen


def test_a_module_can_be_looked_up_while_it_runs_and_not_after(tmp_path: Path) -> None:
    seen = run(tmp_path, "import sys\nseen['module'] = sys.modules[__name__]\nseen['file'] = __file__\n")
    assert seen["module"].__name__ == "model.p.m"
    assert seen["file"] == str(tmp_path / "models" / "m.py")
    assert "model.p.m" not in sys.modules


def test_a_future_import_reaches_the_model_only_if_it_is_written_there(tmp_path: Path) -> None:
    text = "def f(x: int): ...\nseen['type'] = f.__annotations__['x']\n"
    assert run(tmp_path, text)["type"] is int
    assert run(tmp_path, f"from __future__ import annotations\n{text}")["type"] == "int"


def test_a_traceback_follows_causes_and_leaves_libraries_out(tmp_path: Path) -> None:
    text = """
        import json

        def model():
            try:
                json.loads("{")
            except ValueError as error:
                raise RuntimeError("no orders") from error
    """
    text = "\n".join(line[8:] for line in text.splitlines())
    with pytest.raises(RuntimeError) as caught:
        run(tmp_path, text, after="model()")
    message = describe(caught.value, tmp_path)
    lines = [line.strip() for line in message.splitlines() if line.strip() and "^" not in line]
    test_file = str(Path(__file__))
    kept = [line for line in lines if line.startswith("File") and test_file not in line]
    assert kept == ['File "models/m.py", line 6, in model', 'File "models/m.py", line 8, in model']
    assert lines[-1] == "RuntimeError: no orders"
    assert any(line.startswith("json.decoder.JSONDecodeError: Expecting property name") for line in lines)


def test_threads_build_syntax_trees_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[int] = []
    running: list[str] = []
    parse = ast.parse

    def watched(source: Any, *options: Any, **named: Any) -> Any:
        running.append(source)
        at_once.append(len(running))
        time.sleep(0.01)
        running.remove(source)
        return parse(source, *options, **named)

    def fail(number: int) -> None:
        file = tmp_path / f"{number}.py"
        file.write_text(code := "def model():\n    return 1 + None\n")
        with pytest.raises(TypeError) as caught:
            execute(f"model.p.m{number}", file, code, f"\n{code}\nmodel()", {})
        assert "1 + None" in describe(caught.value, tmp_path)

    monkeypatch.setattr(ast, "parse", watched)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(fail, range(8)))
    assert len(at_once) >= 3 * 8
    assert max(at_once) == 1


@pytest.mark.slow
def test_dbt_finds_the_package_in_a_wheel(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(build_wheel(tmp_path)).extractall(installed)
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "from dbt.plugins import PluginManager\n"
        "from dbt.adapters.spark import SparkAdapter\n"
        "print(PluginManager.get_prefixed_modules()['dbt_spark_session'].__file__)\n"
        "print(*SparkAdapter.python_submission_helpers.fget(None))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    file, helpers = done.stdout.splitlines()
    assert Path(file) == installed / "dbt_spark_session" / "__init__.py"
    assert "session" in helpers.split()


@pytest.mark.parametrize(
    ("settings", "environment", "is_remote"),
    [
        ({}, {}, False),
        ({"spark.remote": "sc://localhost"}, {}, True),
        ({}, {"SPARK_REMOTE": "sc://localhost"}, True),
        ({"spark.api.mode": "Connect"}, {}, True),
        ({}, {"SPARK_API_MODE": "connect"}, True),
        ({"spark.api.mode": "classic"}, {"SPARK_API_MODE": "connect"}, False),
        ({"spark.api.mode": "classic"}, {"SPARK_CONNECT_MODE_ENABLED": "1"}, True),
    ],
)
def test_a_session_is_on_a_server_where_pyspark_says_so(
    settings: dict[str, str], environment: dict[str, str], is_remote: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert is_on_a_server(settings) == is_remote


def test_a_missing_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(FailedToConnectError, match=f"JAVA_HOME is {tmp_path}, which has no bin/java"):
        check_installation({})
    # The Java of a server is its own.
    check_installation({"spark.remote": "sc://localhost"})
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    check_installation({})
    monkeypatch.delenv("SPARK_REMOTE")
    monkeypatch.delenv("JAVA_HOME")
    check_installation({})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FailedToConnectError, match="install a JDK or JRE 17"):
        check_installation({})


def test_another_spark_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(FailedToConnectError, match=f"SPARK_HOME is {tmp_path}, which has no bin/spark-submit"):
        check_installation({})
    check_installation({"spark.remote": "sc://localhost"})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    check_installation({})
    (tmp_path / "RELEASE").write_text("Spark 3.5.1 (git revision 1) built for Hadoop 3.3.4\n")
    with pytest.raises(FailedToConnectError, match=r"with Spark 3\.5, and PySpark is .* Remedy: unset SPARK_HOME"):
        check_installation({})
    (tmp_path / "RELEASE").write_text(f"Spark {pyspark.__version__} built for Hadoop 3.3.4\n")
    check_installation({})


def test_spark_is_not_asked_for_the_rows_of_a_command() -> None:
    class Cursor:
        _df = SimpleNamespace(columns=[])

        def fetchall(self) -> list[object]:
            raise AssertionError("Spark was asked")

    session = CancellableSession(SimpleNamespace(server_side_parameters={}, cursor=Cursor))
    session.cursor()
    assert session.fetchall() == []
    Cursor._df = SimpleNamespace(columns=["id"])
    with pytest.raises(AssertionError, match="Spark was asked"):
        session.fetchall()
