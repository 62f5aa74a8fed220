"""The first thing a newcomer meets: what `make` says on a machine that lacks something."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import setup as project_setup
from harness import ROOT


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_pythons_that_fit(version: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    project_setup.check_python()


@pytest.mark.parametrize("version", [(2, 7), (3, 10), (3, 14), (4, 0)])
def test_another_python_gets_one_line(version: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    with pytest.raises(project_setup.SetupError) as error:
        project_setup.check_python()
    number = ".".join(map(str, version))
    assert str(error.value) == (
        f"Python {number} found, 3.11, 3.12 or 3.13 needed: install one of them, "
        "then run `make PYTHON=/path/to/python3.11 …`"
    )


def test_all_places_name_the_same_pythons() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    newest = project_setup.NEWEST_PYTHON
    assert project["requires-python"] == f">=3.11,<{newest[0]}.{newest[1] + 1}"
    assert "(3, 11) <= sys.version_info[:2] <= (3, 13)" in (ROOT / "Makefile").read_text()
    assert (project_setup.OLDEST_PYTHON, newest) == ((3, 11), (3, 13))


def pythons(directory: Path, **versions: str) -> dict[str, str]:
    """An environment whose PATH holds, beside what make needs, stand-ins for Python that say a version, or fail."""
    for command in ("bash", "sh", "grep", "awk"):
        (directory / command).symlink_to(str(shutil.which(command)))
    for name, version in versions.items():
        script = directory / name.replace("_", ".")
        fits = "exit 0" if version in ("3.11", "3.12", "3.13") else "exit 1"
        script.write_text(f'#!/bin/sh\n[ "$1" = -c ] && {fits}\necho "{version} runs $1"\n')
        script.chmod(0o755)
    return {"PATH": str(directory)}


@pytest.mark.parametrize(
    ("found", "asked", "said"),
    [
        ({"python3_12": "3.12"}, [], "3.12 runs scripts/setup.py"),
        ({"python3_11": "3.11", "python3_13": "3.13"}, [], "3.11 runs scripts/setup.py"),
        # A version manager answers to the name, and has no such Python.
        ({"python3_11": "none", "python3_13": "3.13"}, [], "3.13 runs scripts/setup.py"),
        ({"python3": "3.13"}, [], "3.13 runs scripts/setup.py"),
        (
            {"python3": "3.14"},
            [],
            "setup: Python not found: install Python 3.11, 3.12 or 3.13, or name it with PYTHON=",
        ),
        (
            {"python3_11": "3.11"},
            ["PYTHON=python3.13"],
            "setup: python3.13 not found: install Python 3.11, 3.12 or 3.13",
        ),
        ({"python3_11": "3.11", "python3_13": "3.13"}, ["PYTHON=python3.13"], "3.13 runs scripts/setup.py"),
    ],
)
def test_make_takes_a_python_that_fits(found: dict[str, str], asked: list[str], said: str, tmp_path: Path) -> None:
    make = str(shutil.which("make"))
    command = [make, "--always-make", "--file", str(ROOT / "Makefile"), "env", f"SHELL={shutil.which('bash')}", *asked]
    (tmp_path / "scripts").mkdir()
    for name in ("requirements.lock", "pyproject.toml", "scripts/setup.py", "scripts/log4j2.properties"):
        (tmp_path / name).touch()
    environment = pythons(tmp_path, **found)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout + done.stderr).splitlines()[0].startswith(said)


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_java_major(text: str, major: int | None) -> None:
    assert project_setup.java_major(text) == major


def run_setup(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the setup script with nothing on PATH but the given directory."""
    script = ROOT / "scripts" / "setup.py"
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env={"PATH": str(path)}, check=False
    )


def test_a_missing_java_gets_one_line(tmp_path: Path) -> None:
    done = run_setup(tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "setup: no Java found: install a JDK or JRE 17 (Debian: `apt-get install openjdk-17-jre-headless`)"
    ]


def test_an_old_java_gets_one_line(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    done = run_setup(tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "Java 11 found, 17 or later needed" in done.stderr


def test_the_java_of_java_home_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, version in {"path": 17, "home/bin": 11}.items():
        java = tmp_path / place / "java"
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}.0.2\"' >&2\n")
        java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    project_setup.check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(project_setup.SetupError, match="Java 11 found"):
        project_setup.check_java()
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(project_setup.SetupError, match="JAVA_HOME is /nowhere, which has no bin/java: correct or"):
        project_setup.check_java()


@pytest.mark.parametrize(
    ("python", "is_usable"),
    [
        (None, False),
        ("gone", False),
        ("#!/bin/sh\nexit 1\n", False),
        ("#!/bin/sh\necho 3 9\n", False),
        (f"#!{sys.executable}\nimport sys\nprint(*sys.version_info[:2])\n", True),
    ],
)
def test_an_environment_whose_python_is_gone_or_another_one_is_made_anew(
    python: str | None, is_usable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_setup, "BIN", tmp_path)
    if python == "gone":
        (tmp_path / "python").symlink_to(tmp_path / "removed")
    elif python is not None:
        (tmp_path / "python").write_text(python)
        (tmp_path / "python").chmod(0o755)
    assert project_setup.has_this_python() == is_usable


def test_no_network_gets_the_remedy_and_the_end_of_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_setup, "VENV", tmp_path)
    with pytest.raises(project_setup.SetupError) as error:
        project_setup.run("installing uv", [sys.executable, "-c", "raise SystemExit('no route')"], "check the network")
    assert str(error.value).startswith("installing uv failed: check the network")
    assert str(error.value).endswith("its end here)\nno route")
    assert (tmp_path / "setup.log").read_text() == "no route\n"


def test_make_help_names_every_command() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for command in ("env", "build", "pr", "test", "test-slow", "lint", "conventions", "docs", "clean", "lock"):
        assert f"make {command} " in done.stdout


def test_jars_of_other_versions_than_the_locked_ones_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(what: str, command: list[str | Path], remedy: str) -> None:
        found = tmp_path / ".spark" / "ivy" / "jars"
        found.mkdir(parents=True)
        for jar in (ROOT / ".spark" / "jars").glob("*.jar"):
            (found / jar.name).touch()
        (found / "org.example_needless-1.0.jar").touch()

    jars = tmp_path / ".spark" / "jars"
    jars.mkdir(parents=True)
    (jars / "io.delta_delta-spark_4.2_2.13-0.0.1.jar").touch()
    monkeypatch.setattr(project_setup, "SPARK", tmp_path / ".spark")
    monkeypatch.setattr(project_setup, "JARS", jars)
    monkeypatch.setattr(project_setup, "run", resolve)
    project_setup.resolve_jars()
    assert {jar.name for jar in jars.iterdir()} == {jar.name for jar in (ROOT / ".spark" / "jars").glob("*.jar")}


def test_the_profile_and_the_guide_name_the_jars_that_setup_resolves() -> None:
    # Spark knows no wildcard for the jars that executors get.
    jars = {path.name for path in (ROOT / ".spark" / "jars").glob("io.delta_*.jar")}
    for text in (ROOT / "profiles.yml", ROOT / "docs" / "guides" / "from-one-machine-to-a-cluster.md"):
        assert set(re.findall(r"io\.delta_[\w.-]+\.jar", text.read_text())) == jars


def test_a_step_says_how_long_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    project_setup.run("sleeping", [sys.executable, "-c", "import time; time.sleep(0.6)"], "")
    said = capsys.readouterr().out
    assert re.fullmatch(r"setup: sleeping: \d+ s\n", said)
    assert said != "setup: sleeping: 0 s\n"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set-up checkout, as far as the archive of classes needs one."""
    for name, path in {"VENV": ".venv", "SPARK": ".spark", "JARS": ".spark/jars"}.items():
        (tmp_path / path).mkdir()
        monkeypatch.setattr(project_setup, name, tmp_path / path)
    monkeypatch.setattr(project_setup, "ROOT", tmp_path)
    monkeypatch.setattr(project_setup, "ARCHIVE", tmp_path / ".spark" / "jars" / "classes.jsa")
    monkeypatch.setattr(project_setup, "READY", tmp_path / ".venv" / ".ready")
    project_setup.READY.touch()
    long_ago = time.time() - 60
    os.utime(project_setup.READY, (long_ago, long_ago))
    return tmp_path


class Java:
    """Writes an archive in two halves, and ends when it is let go."""

    def __init__(self) -> None:
        self.runs = 0
        self.is_half_way = threading.Event()
        self.may_end = threading.Event()

    def __call__(self, what: str, command: list[str | Path], remedy: str) -> None:
        self.runs += 1
        archive = Path(command[3])
        archive.write_text("half")
        self.is_half_way.set()
        assert self.may_end.wait(30)
        archive.write_text("whole")


@pytest.fixture
def java(places: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    stubbed = Java()
    monkeypatch.setattr(project_setup, "run", stubbed)
    return stubbed


def test_an_archive_is_in_its_place_only_when_complete(places: Path, java: Java) -> None:
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(project_setup.archive_classes)
        assert java.is_half_way.wait(30)
        assert not project_setup.ARCHIVE.exists()
        java.may_end.set()
        writing.result(30)
    assert project_setup.ARCHIVE.read_text() == "whole"
    assert [path.name for path in (places / ".spark").iterdir()] == ["jars"]


def test_two_processes_write_one_archive(java: Java) -> None:
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(project_setup.archive_classes)
        assert java.is_half_way.wait(30)
        second = pool.submit(project_setup.archive_classes)
        time.sleep(0.2)
        assert not second.done()
        java.may_end.set()
        first.result(30)
        second.result(30)
    assert java.runs == 1


def test_an_archive_of_an_older_environment_is_replaced(java: Java) -> None:
    java.may_end.set()
    project_setup.ARCHIVE.write_text("old")
    os.utime(project_setup.ARCHIVE, (0, 0))
    project_setup.archive_classes()
    assert project_setup.ARCHIVE.read_text() == "whole"


def test_an_archive_that_was_begun_before_the_setup_ended_is_replaced(java: Java) -> None:
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(project_setup.archive_classes)
        assert java.is_half_way.wait(30)
        time.sleep(0.05)
        project_setup.READY.touch()
        java.may_end.set()
        writing.result(30)
    project_setup.archive_classes()
    assert java.runs == 2


def test_a_java_that_fails_leaves_the_archive_that_is_there(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(what: str, command: list[str | Path], remedy: str) -> None:
        Path(command[3]).write_text("half")
        raise project_setup.SetupError(what)

    monkeypatch.setattr(project_setup, "run", fail)
    project_setup.ARCHIVE.write_text("old")
    os.utime(project_setup.ARCHIVE, (0, 0))
    with pytest.raises(project_setup.SetupError):
        project_setup.archive_classes()
    assert project_setup.ARCHIVE.read_text() == "old"
    assert [path.name for path in (places / ".spark").iterdir()] == ["jars"]


def test_nothing_waits_for_the_archive(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = places / "setup.py"
    script.write_text(
        "import os, sys, time\n"
        "print(*sys.argv[1:], os.nice(0), os.getsid(0) == os.getpid(), flush=True)\n"
        "while not os.path.exists('end'): time.sleep(0.01)\n"
        "print('ended', flush=True)\n"
    )
    monkeypatch.setattr(project_setup, "__file__", str(script))
    log = places / ".venv" / "archive.log"

    def said(last: str) -> str:
        deadline = time.monotonic() + 30
        while last not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        return log.read_text()

    project_setup.archive_in_background()
    assert said("True") == "archive 19 True\n"
    (places / "end").touch()
    assert said("ended").endswith("ended\n")


@pytest.mark.parametrize(("target", "waits"), [("env", False), ("build", False), ("archive", True), ("test", True)])
def test_the_tests_alone_wait_for_the_archive(target: str, waits: bool) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ("scripts/setup.py archive" in done.stdout) == waits


def test_the_container_runs_targets_that_are_there() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    targets = re.findall(r"^RUN make (\w+)$", dockerfile, re.M)
    targets += [json.loads(command)[1] for command in re.findall(r"^CMD (.*)$", dockerfile, re.M)]
    assert targets == ["archive", "build"]
    make, target = container["postCreateCommand"].split()
    for name in [*targets, target]:
        subprocess.run([make, "--dry-run", name], cwd=ROOT, capture_output=True, check=True)
    assert f" AS {container['build']['target']}\n" in dockerfile
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).samefile(ROOT / "Dockerfile")


def test_the_container_gets_nothing_that_git_ignores() -> None:
    ignored = {line.rstrip("/").removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().splitlines()}
    assert {line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines()} <= ignored
