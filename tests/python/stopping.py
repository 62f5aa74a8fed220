"""Signals to the dbt that runs in this process, at chosen points of its statements."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from dbt.adapters.spark.session import SessionConnectionWrapper
from dbt_common.invocation import get_invocation_id

from dbt_spark_session import cancellation, signals
from dbt_spark_session.session import CancellableSession


@contextmanager
def as_the_command() -> Iterator[None]:
    """Let signals be answered as where the command `dbt` runs."""
    before = {number: signal.getsignal(number) for number in signals.DEFAULTS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signals, "_since", None)
        patch.setattr(cancellation, "_interrupt", None)
        for number, (_, default) in signals.DEFAULTS.items():
            signal.signal(number, default)
        try:
            signals.take_over()
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def at(point: str, text: str, act: Callable[[], None]) -> Iterator[None]:
    """Act once, at the first statement that holds a text: before it, after it, as it ends, or in its stead.

    In the last two cases Spark reports the statement as cancelled, once it was done and before it began.
    """
    waiting = [act]

    def acting(execute: Callable[..., None]) -> Callable[..., None]:
        def acted(session: SessionConnectionWrapper, sql: str, bindings: object = None) -> None:
            if not waiting or text not in sql:
                execute(session, sql, bindings)
                return
            act = waiting.pop()
            if point in ("after", "as it ends"):
                execute(session, sql, bindings)
            act()
            if point == "before":
                execute(session, sql, bindings)
            elif point != "after":
                while not cancellation._at_work[threading.get_ident()].is_stopped:
                    time.sleep(0.01)
                raise RuntimeError("Job 7 cancelled")

        return acted

    # Within the own session stands dbt's, which has Spark do it.
    place = CancellableSession if point in ("before", "after") else SessionConnectionWrapper
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "execute", acting(place.execute))
        yield
    assert not waiting, f"no statement holds {text!r}"


def stop_by(number: signal.Signals) -> None:
    """Signal this process, and wait until the run is stopped."""
    os.kill(os.getpid(), number)
    deadline = time.monotonic() + 60
    while cancellation._stopped is None or cancellation._stopped[0] != get_invocation_id():
        assert time.monotonic() < deadline, "the signal was not answered"
        time.sleep(0.01)
