"""Compares the versions of the dbt package and of this Python package, which one release brings."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

PYTHON_PACKAGE = "delta-scd2"
DBT_PACKAGE = "delta_scd2"


def check_versions(config: Any) -> None:
    """Raise an error if the project of a dbt configuration has the dbt package of another release."""
    try:
        python = version(PYTHON_PACKAGE)
    except PackageNotFoundError:
        return
    package = config.load_dependencies().get(DBT_PACKAGE)
    if package is None or package.version is None or str(package.version) == python:
        return
    dbt = package.version
    raise DbtRuntimeError(
        f"The dbt package {DBT_PACKAGE} has version {dbt}, but the Python package {PYTHON_PACKAGE} in dbt's "
        f"environment has version {python}: set `revision: v{python}` in `packages.yml`, or update the checkout, and "
        f"run `dbt deps`; or install version {dbt} of the Python package."
    )
