"""Handles Ctrl-C and SIGTERM for the dbt command: the first stops the run, a second kills it."""

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

# The display name and Python's default handler of each signal.
DEFAULTS = {
    signal.SIGINT: ("Ctrl-C", signal.default_int_handler),
    signal.SIGTERM: ("SIGTERM", signal.SIG_DFL),
}
# Seconds within which a repeated signal is ignored: `timeout` and some schedulers signal a process
# and its group, so it arrives twice.
ONE_SIGNAL = 1.0

_since: float | None = None


def is_command_line() -> bool:
    """Whether this is the dbt command, not a program that calls dbt."""
    context = click.get_current_context(silent=True)
    # dbtRunner always sets callbacks there, even an empty list.
    return context is not None and "callbacks" not in (context.find_root().obj or {})


def take_over() -> None:
    """Handle the signals that have Python's default handler; leave the others alone."""
    if threading.current_thread() is threading.main_thread():
        for number, (_, default) in DEFAULTS.items():
            if signal.getsignal(number) == default:
                signal.signal(number, _answer)


def are_taken_over() -> bool:
    return signal.getsignal(signal.SIGTERM) is _answer


@contextmanager
def kept() -> Iterator[None]:
    """Restore the Ctrl-C handler after the block, because Spark replaces it in the main thread."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) != handler:
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
        # The first process of a container only gets signals that it handles.
        os._exit(128 + number)
