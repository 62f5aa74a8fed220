"""Which statements a stopped run still makes, and what signals do, without a Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import reset_invocation_id

from dbt_spark_session import signals
from dbt_spark_session.cancellation import RUNS_TO_ITS_END, cancellable, stop
from stopping import as_the_command


class Jobs:
    """Keeps what is asked of it; a tag that is cancelled often enough ends the statement."""

    def __init__(self) -> None:
        self.tags: set[str] = set()
        self.cancelled: list[str] = []

    def tag(self, name: str) -> None:
        self.tags.add(name)

    def untag(self, name: str) -> None:
        self.tags.discard(name)

    def cancel(self, name: str) -> None:
        self.cancelled.append(name)

    def run(self, seconds: float = 30, cancels: int = 3) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if len(self.cancelled) >= cancels:
                raise RuntimeError("Job 7 cancelled")
            time.sleep(0.01)
        return "done"


@pytest.fixture
def jobs() -> Jobs:
    reset_invocation_id()
    return Jobs()


def statement(jobs: Jobs, sql: str = "", work: Callable[[], str] = lambda: "done", is_python: bool = False) -> str:
    with cancellable(jobs, sql, is_python):
        return work()


def in_a_thread(*arguments: object) -> str:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(statement, *arguments).result()  # type: ignore[arg-type]


def test_a_statement_is_cancelled_until_it_ends_and_none_begins_after_it(jobs: Jobs) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(statement, jobs, "merge", jobs.run)
        while not jobs.tags:
            time.sleep(0.01)
        tags = set(jobs.tags)
        stop()
        with pytest.raises(DbtRuntimeError, match="the run was stopped"):
            running.result()
        assert set(jobs.cancelled) == tags
        # The thread may be given other work.
        assert jobs.tags == set()
        with pytest.raises(DbtRuntimeError, match="the run was stopped"):
            pool.submit(statement, jobs, "next").result()


def test_the_thread_that_stops_the_run_and_what_belongs_to_a_commit_go_on(jobs: Jobs) -> None:
    stop()
    assert statement(jobs) == "done"
    assert in_a_thread(jobs, f"{RUNS_TO_ITS_END} alter table") == "done"
    with pytest.raises(DbtRuntimeError):
        in_a_thread(jobs, "alter table")


def test_what_belongs_to_a_commit_is_not_cancelled(jobs: Jobs) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(statement, jobs, RUNS_TO_ITS_END, lambda: jobs.run(seconds=0.5))
        time.sleep(0.1)
        stop()
        assert running.result() == "done"
    assert jobs.cancelled == []


def test_the_next_invocation_is_not_stopped(jobs: Jobs) -> None:
    stop()
    reset_invocation_id()
    assert in_a_thread(jobs) == "done"


def test_an_error_of_a_statement_stays_what_it_is(jobs: Jobs) -> None:
    with pytest.raises(ZeroDivisionError):
        statement(jobs, "", lambda: str(1 / 0))


def test_python_that_goes_on_after_any_error_is_stopped(jobs: Jobs) -> None:
    def stubborn() -> str:
        while True:
            with suppress(Exception):
                time.sleep(0.05)

    def submitted() -> str:
        try:
            return stubborn()
        except SystemExit as error:
            raise DbtRuntimeError("as the job helper does") from error

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(statement, jobs, "", submitted, True)
        time.sleep(0.1)
        stop()
        with pytest.raises(DbtRuntimeError, match="the run was stopped"):
            running.result(timeout=30)


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_a_signal_waits_for_the_statement_of_the_main_thread(
    jobs: Jobs, number: signal.Signals, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine, the same signal may come late.
    monkeypatch.setattr(signals, "ONE_SIGNAL", 60.0)
    seen: list[str] = []

    def interrupted() -> str:
        os.kill(os.getpid(), number)
        seen.append(jobs.run(seconds=0.3, cancels=1000))
        return "done"

    with as_the_command():
        with pytest.raises(KeyboardInterrupt, match=f"the run was stopped by {name};"):
            statement(jobs, "", interrupted)
        # The same signal, sent to the process and to its group.
        os.kill(os.getpid(), number)
    assert seen == ["done"]
    assert jobs.cancelled


def test_a_signal_lets_the_statement_that_writes_the_log_end(jobs: Jobs) -> None:
    def interrupted() -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return "done"

    with as_the_command():
        assert statement(jobs, RUNS_TO_ITS_END, interrupted) == "done"
        with pytest.raises(KeyboardInterrupt):
            statement(jobs)


def test_a_handler_of_another_program_stays(jobs: Jobs) -> None:
    def own(*_: object) -> None:
        pass

    before = signal.signal(signal.SIGTERM, own)
    try:
        signals.take_over()
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert not signals.is_command_line()
    thread = threading.Thread(target=signals.take_over)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_a_program_may_change_beside_a_statement() -> None:
    """Only the main thread may set handlers, and Spark replaces them only there."""
    is_kept, has_changed = threading.Event(), threading.Event()

    def run() -> None:
        with signals.kept():
            is_kept.set()
            has_changed.wait(10)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(run)
        assert is_kept.wait(10)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            has_changed.set()
            done.result()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGINT, before)


SIGNALS = """
import os, signal, time
from dbt_spark_session import signals
signals.take_over()
<before>
for pause in (0, 1.2):
    time.sleep(pause)
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        print("stopped", flush=True)
print("went on")
"""


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("", -signal.SIGTERM),
        # As for the first process of a container, which only gets signals that it handles.
        ("os.kill = lambda process, number: None", 128 + signal.SIGTERM),
    ],
)
def test_a_second_signal_ends_the_process(before: str, code: int) -> None:
    command = [sys.executable, "-c", SIGNALS.replace("<before>", before)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "stopped\n", "")
