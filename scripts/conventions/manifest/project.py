"""Conventions of this project that dbt-bouncer has no check for."""

from __future__ import annotations

from typing import Any

from dbt_bouncer.check_framework import check, fail


@check  # type: ignore[untyped-decorator]
def check_public_macro_is_described(macro: Any) -> None:
    """A macro without a leading underscore is for users, so it has a description."""
    private = macro.name.startswith(("_", "materialization_"))
    if not private and not macro.description:
        fail(f"`{macro.name}` is public and has no description: add it to its folder's `_<folder>__macros.yml`.")


@check  # type: ignore[untyped-decorator]
def check_dimension_keeps_history(model: Any) -> None:
    """A dimension is built by the materialization that keeps its history."""
    if model.name.startswith("dim_") and model.config.materialized != "scd2":
        fail(f"`{model.name}` is a dimension but has materialized: {model.config.materialized}, not scd2.")
