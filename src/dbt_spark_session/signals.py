"""Ctrl-C and SIGTERM, where dbt is the program that runs: both stop the run, and a second one ends it at once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from dbt_spark_session.cancellation import interrupt

# A person's name of the signal, and what Python does on it unless a program has its own way.
DEFAULTS = {
    signal.SIGINT: ("Ctrl-C", signal.default_int_handler),
    signal.SIGTERM: ("SIGTERM", signal.SIG_DFL),
}
# `timeout`, and schedulers that signal a process and its group, send one signal twice.
ONE_SIGNAL = 1.0

_since: float | None = None


def is_command_line() -> bool:
    """Whether this is the command `dbt`, and not a program that calls dbt."""
    context = click.get_current_context(silent=True)
    # dbtRunner leaves its callbacks there, also when it has none.
    return context is not None and "callbacks" not in (context.find_root().obj or {})


def take_over() -> None:
    """Answer the signals that are left to Python; one that is ignored, or has a handler already, is left as it is."""
    if threading.current_thread() is threading.main_thread():
        for number, (_, default) in DEFAULTS.items():
            if signal.getsignal(number) == default:
                signal.signal(number, _answer)


def are_taken_over() -> bool:
    return signal.getsignal(signal.SIGTERM) is _answer


@contextmanager
def kept() -> Iterator[None]:
    """Let what answers Ctrl-C be the same after the block: Spark would put a handler of its own in its place."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) != handler:
            signal.signal(signal.SIGINT, handler)


def _answer(number: int, frame: FrameType | None) -> None:
    global _since
    now = time.monotonic()
    if _since is None:
        _since = now
        name, _ = DEFAULTS[signal.Signals(number)]
        interrupt(f"the run was stopped by {name}; loads that were not committed wrote nothing")
    elif now - _since > ONE_SIGNAL:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
