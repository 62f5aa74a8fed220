"""Stops what a run has Spark do, and lets it begin nothing more.

dbt works in several threads, and each of them says here what it is about to have Spark do. Once a run is stopped, Spark
gets statements from one thread alone, which brings the run to its end, and from loads whose rows are committed already.
Spark can report a statement as cancelled that Delta has committed, so only the table knows whether a load is committed.
"""

from __future__ import annotations

import _thread
import ctypes
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

# What stands before the first word of a statement: a text further on may look like a comment.
BEGINNING = r"\s*(?:/\*(?:[^*]|\*(?!/))*\*/\s*)*?"
# The macro `running_to_its_end` writes this into statements without which a load that is committed would not be whole.
RUNS_TO_ITS_END = "/* runs to its end */"
_RUNS_TO_ITS_END = re.compile(BEGINNING + re.escape(RUNS_TO_ITS_END))
# The macro `committing` writes this into the statement that commits a load.
COMMITS_TO = re.compile(BEGINNING + r"/\* commits to (.+?) \*/")
NOT_DONE = "not done, because the run was stopped"
# Spark cancels the jobs that there are; a statement may begin others.
PAUSE = 0.1
# How long the code of a Python model may take to end by itself, once its jobs are cancelled.
GRACE = 1.0


class StoppedError(DbtRuntimeError):  # type: ignore[misc]  # dbt ships no types
    """A statement was cancelled, or did not begin."""

    def __init__(self) -> None:
        super().__init__(NOT_DONE)


class Jobs(Protocol):
    """What can be cancelled: the jobs that a thread begins while it has a tag."""

    def tag(self, name: str) -> None: ...
    def untag(self, name: str) -> None: ...
    def cancel(self, name: str) -> None: ...


@dataclass(eq=False)
class _Work:
    """What one thread has Spark do at the moment."""

    thread: int
    jobs: Jobs
    tag: str
    is_python: bool
    runs_to_its_end: bool
    commits: bool
    is_stopped: bool = False


class _Stop(SystemExit):
    """Raised in the code of a Python model, which may have a way of its own with errors."""


_at_work: dict[int, _Work] = {}
# The invocation of dbt that was stopped, and its thread that goes on.
_stopped: tuple[str, int] | None = None
_interrupt: KeyboardInterrupt | None = None


@contextmanager
def cancellable(jobs: Jobs, sql: str = "", is_python: bool = False) -> Iterator[None]:
    """Let `stop` end what the block has Spark do. Raises StoppedError where it did, also before the block began."""
    thread = threading.get_ident()
    work = _Work(
        thread,
        jobs,
        f"dbt-{get_invocation_id()}-{thread}",
        is_python,
        runs_to_its_end=_RUNS_TO_ITS_END.match(sql) is not None,
        commits=COMMITS_TO.match(sql) is not None,
    )
    # Before it asks, so that whoever stops the run meanwhile finds it.
    _at_work[thread] = work
    try:
        if work.runs_to_its_end:
            jobs.untag(work.tag)
        else:
            raise_interrupt()
            if _is_stopped():
                raise StoppedError
            jobs.tag(work.tag)
        yield
    except Exception:
        if work.is_stopped:
            raise StoppedError from None
        raise
    finally:
        try:
            # The thread may go on to other work; Spark may be gone.
            with suppress(Exception):
                jobs.untag(work.tag)
        finally:
            del _at_work[thread]
        # What belongs to a commit comes after it.
        if not work.runs_to_its_end and not work.commits:
            raise_interrupt()


def stop() -> None:
    """Cancel what the threads of this run have Spark do, and let none of them but this one begin anything."""
    global _stopped
    _stopped = (get_invocation_id(), threading.get_ident())
    works = [work for work in list(_at_work.values()) if not work.runs_to_its_end]
    for work in works:
        work.is_stopped = True
    # `threading` has locks, one of which this thread may have held when a signal came.
    _thread.start_new_thread(_cancel, (works,))


def interrupt(reason: str) -> None:
    """Stop the run, and raise KeyboardInterrupt in the main thread, which this is, as soon as Spark has answered it."""
    global _interrupt
    stop()
    error = KeyboardInterrupt(reason)
    if threading.get_ident() not in _at_work:
        raise error
    # py4j would lose the connection, and print a traceback.
    _interrupt = error


def raise_interrupt() -> None:
    """Raise the KeyboardInterrupt that waits for the main thread, if this is it and there is one."""
    global _interrupt
    if _interrupt is not None and threading.current_thread() is threading.main_thread():
        error, _interrupt = _interrupt, None
        raise error


def _is_stopped() -> bool:
    if _stopped is None:
        return False
    invocation, thread = _stopped
    return invocation == get_invocation_id() and thread != threading.get_ident()


def _cancel(works: list[_Work]) -> None:
    began = time.monotonic()
    while works := [work for work in works if _at_work.get(work.thread) is work]:
        for work in works:
            # Where Spark itself is gone, nothing is left to cancel.
            with suppress(Exception):
                work.jobs.cancel(work.tag)
            if work.is_python and time.monotonic() - began > GRACE and not _waits_for_java(work.thread):
                work.is_python = False
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(work.thread), ctypes.py_object(_Stop))
        time.sleep(PAUSE)


def _waits_for_java(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("py4j"):
        frame = frame.f_back
    return frame is not None
