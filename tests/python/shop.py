"""Helpers to install this project as a package in the project in integration_tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import ROOT

UV = ROOT / ".venv" / "bin" / "uv"


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command and return its output; if it fails, the assertion shows the end of its output."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def build_wheel(directory: Path) -> Path:
    """Build the wheel of this project into a directory, or copy the one that `make dist` has built."""
    if built := os.environ.get("DELTA_SCD2_WHEEL"):
        directory.mkdir(exist_ok=True)
        return Path(shutil.copy(built, directory))
    run(UV, "build", "--wheel", "--offline", "--quiet", "--out-dir", directory, ROOT)
    (wheel,) = directory.glob("*.whl")
    return wheel


def make_environment(directory: Path, constraints: Path, *packages: str | Path, python: str | None = None) -> Path:
    """Create an environment with the packages, and return the directory of its commands.

    Uses this Python, or another version; skips the test if that is not installed.
    """
    if python is None:
        interpreter = str(ROOT / ".venv" / "bin" / "python")
    else:
        found = subprocess.run(
            [UV, "python", "find", "--no-python-downloads", "--no-project", python],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if found.returncode != 0:
            pytest.skip(f"this machine has no Python {python}")
        interpreter = found.stdout.strip()
    run(UV, "venv", "--quiet", "--python", interpreter, directory)
    commands = directory / "bin"
    run(UV, "pip", "install", "--quiet", "--python", commands / "python", "--constraints", constraints, *packages)
    return commands


def copy_shop(directory: Path) -> Path:
    """Copy the project in integration_tests, and make it install this checkout."""
    shop = directory / "shop"
    shutil.copytree(ROOT / "integration_tests", shop, ignore=shutil.ignore_patterns("dbt_packages", "target", "logs"))
    (shop / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n")
    return shop


def read_as_its_own(shop: Path, *folders: str) -> None:
    """Have the project read folders of the package as its own macros."""
    text = (shop / "dbt_project.yml").read_text()
    paths = ", ".join(["macros", *(f"dbt_packages/delta_scd2/{folder}" for folder in folders)])
    (shop / "dbt_project.yml").write_text(f"{text}macro-paths: [{paths}]\n")


def need_overrides(shop: Path) -> None:
    """Have the project read the overrides, and give it what dbt-spark alone alters: an apostrophe and an empty cell of
    a seed, and the partitions of a Python model's table."""
    read_as_its_own(shop, "macros/overrides")
    for name, old, new in [
        ("seeds/customer_extracts.csv", "Ann,", "Ann O'Hara,"),
        ("seeds/customer_extracts.csv", ",Hull", ","),
        ("models/customers_by_city.py", 'materialized="table"', 'materialized="table", partition_by="city"'),
    ]:
        text = (shop / name).read_text()
        assert old in text
        (shop / name).write_text(text.replace(old, new))
