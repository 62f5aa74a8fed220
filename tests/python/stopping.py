"""Signals to the dbt that runs in this process, at chosen points of its statements."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
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
    """Act once, before, within or after the first statement that holds a text."""
    execute = CancellableSession.execute
    waiting = [act]

    def acting(session: CancellableSession, sql: str, bindings: object = None) -> None:
        is_it = bool(waiting) and text in sql
        if is_it and point == "before":
            waiting.pop()()
        execute(session, sql, bindings)
        if is_it and point == "after":
            waiting.pop()()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CancellableSession, "execute", acting)
        yield
    assert not waiting, f"no statement holds {text!r}"


def stop_by(number: signal.Signals) -> None:
    """Signal this process, and wait until the run is stopped."""
    os.kill(os.getpid(), number)
    deadline = time.monotonic() + 10
    while cancellation._stopped is None or cancellation._stopped[0] != get_invocation_id():
        assert time.monotonic() < deadline, "the signal was not answered"
        time.sleep(0.01)
