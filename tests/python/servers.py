"""Real servers on loopback for the tests, stopped at the end of their block or after 30 minutes."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent
LIFE = "1800"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def server(
    command: list[object],
    log: Path,
    is_ready: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
    user: str | None = None,
) -> Iterator[None]:
    """Start a process, wait until it is ready, and kill it with its children after the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["timeout", "--kill-after=10", LIFE, *map(str, command)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "SPARK_HOME": str(SPARK_HOME),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
                # Neither UTC nor dbt's time zone, to expose times read in the wrong one.
                "TZ": "America/Lima",
                **(environment or {}),
            },
            start_new_session=True,
            user=user,
        )
    try:
        deadline = time.monotonic() + 120
        while not is_ready():
            assert process.poll() is None, f"{command[0]} ended:\n{log.read_text()[-3000:]}"
            assert time.monotonic() < deadline, f"{command[0]} is not ready:\n{log.read_text()[-3000:]}"
            time.sleep(0.5)
        yield
    finally:
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, signal_number)
                process.wait(timeout=20)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


@contextmanager
def spark_cluster(directory: Path) -> Iterator[str]:
    """The URL of a standalone master with two workers of one core each."""
    port, spark_class = free_port(), SPARK_HOME / "bin" / "spark-class"
    log = directory / "master.log"
    host = ["--host", "127.0.0.1", "--webui-port", 0]
    master = [spark_class, "org.apache.spark.deploy.master.Master", *host, "--port", port]
    options = {"SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false"}
    with ExitStack() as servers:
        servers.enter_context(server(master, log, lambda: "elected leader" in log.read_text(), options))
        url = f"spark://127.0.0.1:{port}"
        for name in ("worker_1", "worker_2"):
            worker_log = directory / f"{name}.log"
            worker = [
                spark_class, "org.apache.spark.deploy.worker.Worker", *host, "--cores", 1, "--memory", "1g",
                "--work-dir", directory / name, url,
            ]  # fmt: skip
            servers.enter_context(
                server(worker, worker_log, lambda log=worker_log: "Successfully registered" in log.read_text())
            )
        yield url


@contextmanager
def spark_server(
    directory: Path, settings: Mapping[str, str], main_class: str, port: int, *options: str
) -> Iterator[None]:
    """Run a Spark application that listens on a port, with settings."""
    arguments = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [
        SPARK_HOME / "bin" / "spark-submit", "--master", "local[2]", "--driver-memory", "2g", *arguments,
        "--class", main_class, "spark-internal", *options,
    ]  # fmt: skip
    with server(command, directory / "server.log", lambda: listens(port)):
        yield


@contextmanager
def connect_server(directory: Path, settings: Mapping[str, str]) -> Iterator[str]:
    """The address of a Spark Connect server."""
    port = free_port()
    binding = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port)}
    main_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with spark_server(directory, {**settings, **binding}, main_class, port):
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def thrift_server(directory: Path, settings: Mapping[str, str]) -> Iterator[int]:
    """The port of a Spark Thrift server."""
    port = free_port()
    main_class = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
    options = ["hive.server2.thrift.bind.host=127.0.0.1", f"hive.server2.thrift.port={port}"]
    words = [word for option in options for word in ("--hiveconf", option)]
    with spark_server(directory, settings, main_class, port, *words):
        yield port


def postgresql_programs() -> Path | None:
    """The directory of PostgreSQL's server programs, which Debian does not add to PATH."""
    found = [Path(program).parent for program in [shutil.which("initdb")] if program]
    return next(iter(found or sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@contextmanager
def postgresql(programs: Path, log: Path, password: str) -> Iterator[int]:
    """The port of an empty PostgreSQL whose user `hive` has a password."""
    port = free_port()
    # PostgreSQL does not run as root, and its user cannot read the tests' directories.
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as directory:
        data, secret = Path(directory) / "data", Path(directory) / "password"
        secret.write_text(password)
        if user:
            for path in (Path(directory), secret):
                shutil.chown(path, user)
        initialise = [programs / "initdb", "--username=hive", "--auth=scram-sha-256", f"--pwfile={secret}", data]
        subprocess.run(initialise, check=True, capture_output=True, user=user)
        settings = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
        command = [programs / "postgres", "-D", data, *(word for setting in settings for word in ("-c", setting))]
        with server(command, log, lambda: listens(port), user=user):
            yield port
