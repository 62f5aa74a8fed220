"""The results of models that end after a run was stopped."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dbt_spark_session.runs import _keeping, _with_late_results


def result(unique_id: str, is_batch: bool = False, is_ephemeral: bool = False) -> Any:
    node = SimpleNamespace(unique_id=unique_id, is_ephemeral_model=is_ephemeral)
    return SimpleNamespace(node=node, is_batch=is_batch)


def test_each_model_that_ends_late_has_one_result() -> None:
    call_runner = _keeping(lambda task, runner: runner)
    # A model of batches ends after its batches, which dbt runs in the same way.
    ended = [result("early"), *[result("batches", is_batch=True)] * 2, result("batches"), result("late")]
    task = SimpleNamespace(node_results=[])
    for each in [*ended, result("inlined", is_ephemeral=True)]:
        call_runner(task, each)
    task.node_results.append(ended[0])
    _with_late_results(lambda task, pool: None)(task, None)
    assert [(each.node.unique_id, each.is_batch) for each in task.node_results] == [
        ("early", False),
        ("batches", False),
        ("late", False),
    ]
