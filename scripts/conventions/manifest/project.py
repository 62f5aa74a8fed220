"""Conventions of this project that dbt-bouncer does not check."""

from __future__ import annotations

from typing import Any

from dbt_bouncer.check_framework import check, fail


@check  # type: ignore[untyped-decorator]
def check_dimension_keeps_history(model: Any) -> None:
    """A dimension uses the scd2 materialization."""
    if model.name.startswith("dim_") and model.config.materialized != "scd2":
        fail(f"`{model.name}` is a dimension but has materialized: {model.config.materialized}, not scd2.")
