"""Create `.venv` from `requirements.lock`, and `.spark/jars` with Delta and a Java class archive.

Run by `make` with Python 3.11, 3.12 or 3.13; needs only the standard library. A second run does
nothing, because `make` compares `.venv/.ready` with the files that determine the environment.

Nothing waits for the archive: a process in the background writes it. `setup.py archive` writes it
at once.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
READY = VENV / ".ready"
SPARK = ROOT / ".spark"
JARS = SPARK / "jars"
ARCHIVE = JARS / "classes.jsa"
LOCK = ROOT / "requirements.lock"
LOGGING = ROOT / "scripts" / "log4j2.properties"
LAST_LINES = 15
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)

# For a shared metastore. The Delta jars have the version of the locked Python package.
POSTGRESQL_DRIVER = "org.postgresql:postgresql:42.7.8"

RESOLVE_JARS = """
import sys
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
# The name of the machine need not resolve.
builder = builder.config("spark.driver.host", "localhost").config("spark.driver.bindAddress", "127.0.0.1")
builder = builder.config("spark.jars.ivy", sys.argv[1])
configure_spark_with_delta_pip(builder, extra_packages=sys.argv[2:]).getOrCreate().stop()
"""

# Loads the classes of a dbt run: session, catalog, Delta, MERGE. Java writes the archive on exit.
LOAD_CLASSES = """
import sys
from pyspark.sql import SparkSession

archive, jars, directory = sys.argv[1:]
settings = {
    "spark.master": "local[2]",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.driver.extraClassPath": f"{jars}/*",
    "spark.driver.extraJavaOptions": f'-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "-XX:ArchiveClassesAtExit={archive}"'
    f' "-Dderby.stream.error.file={directory}/derby.log"',
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.warehouse.dir": f"{directory}/warehouse",
    "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={directory}/metastore;create=true",
    "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
}
spark = SparkSession.builder.config(map=settings).enableHiveSupport().getOrCreate()
for statement in (
    "create schema s",
    "create table s.t using delta tblproperties ('delta.enableDeletionVectors' = 'true') as select id,"
    " sha2(string(id), 256) as hash, lead(id) over (partition by id % 2 order by id) as next from range(9)",
    "create view s.v as select t.*, current_timestamp() as now from s.t full join range(9) as r on t.id <=> r.id",
    "merge into s.t using s.v on t.id <=> v.id and v.id > 3 when matched then update set hash = v.now"
    " when not matched then insert (id) values (v.id) when not matched by source then delete",
    "describe history s.t",
    "show tables in s",
    "select hash, count(*) from s.t group by hash order by hash",
):
    spark.sql(statement).collect()
java = spark.sparkContext._gateway.proc
spark.stop()
java.stdin.close()
java.wait()
"""


class SetupError(Exception):
    """An error that the user can fix; its text is printed."""


def java_major(version_text: str) -> int | None:
    """The major version in the output of `java -version` (8 for `1.8`), or None."""
    found = re.search(r'version "(?:1\.)?(\d+)', version_text)
    return int(found.group(1)) if found else None


def check_python() -> None:
    if not OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        raise SetupError(
            f"Python {sys.version_info[0]}.{sys.version_info[1]} found, 3.11, 3.12 or 3.13 needed: "
            "install one of them, then run `make PYTHON=/path/to/python3.11 …`"
        )


def find_java() -> str:
    """The Java that Spark starts."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None and home:
        raise SetupError(f"JAVA_HOME is {home}, which has no bin/java: correct or unset it")
    if java is None:
        raise SetupError("no Java found: install a JDK or JRE 17 (Debian: `apt-get install openjdk-17-jre-headless`)")
    return java


def check_java() -> None:
    output = subprocess.run([find_java(), "-version"], capture_output=True, text=True, check=False)
    major = java_major(output.stderr + output.stdout)
    if major is None or major < 17:
        raise SetupError(
            f"Java {major or 'of an unknown version'} found, 17 or later needed: install a JDK or JRE 17 "
            "(Debian: `apt-get install openjdk-17-jre-headless`) and put it first on PATH, or into JAVA_HOME"
        )


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is being done and, afterwards, how long it took."""
    print(f"setup: {what}", end="", flush=True)
    started = time.monotonic()
    try:
        yield
    finally:
        print(f": {time.monotonic() - started:.0f} s", flush=True)


def run(what: str, command: list[str | Path], remedy: str) -> None:
    with step(what):
        done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        log = VENV / "setup.log"
        output = (done.stdout + done.stderr).rstrip()
        log.write_text(f"{output}\n")
        end = "\n".join(output.splitlines()[-LAST_LINES:])
        raise SetupError(f"{what} failed: {remedy} (the full output is in .venv/{log.name}, its end here)\n{end}")


def locked_version(package: str) -> str:
    found = re.search(rf"^{package}==(\S+)", LOCK.read_text(), flags=re.MULTILINE)
    if found is None:
        raise SetupError(f"{LOCK.name} does not pin {package}: run `make lock`")
    return found.group(1)


def has_this_python() -> bool:
    """Whether the Python of .venv runs, which it no longer does once its base is gone, and is of this version."""
    asked = [str(BIN / "python"), "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    except OSError:
        return False
    return answer.split() == [str(part) for part in sys.version_info[:2]]


def install_packages() -> None:
    network = "the Python package index must be reachable at the first run; check the network and pip's settings"
    uv = BIN / "uv"
    is_usable = has_this_python()
    if not is_usable or not uv.exists():
        try:
            with step("creating .venv"):
                venv.create(VENV, clear=not is_usable, symlinks=True, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            module = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
            raise SetupError(f"no virtual environment: install Python's venv module, {module} ({error})") from error
        run("installing uv", [BIN / "pip", "install", "--quiet", f"uv=={locked_version('uv')}"], network)
    python: list[str | Path] = ["--python", BIN / "python"]
    run("installing the locked packages", [uv, "pip", "sync", *python, "--require-hashes", LOCK], network)
    run("installing this project", [uv, "pip", "install", *python, "--no-deps", "--editable", ROOT], network)


def jar_patterns() -> list[str]:
    """The jars of the locked versions. Spark has their dependencies; a second copy would clash."""
    delta, driver = locked_version("delta-spark"), POSTGRESQL_DRIVER.rpartition(":")[2]
    spark = ".".join(locked_version("pyspark").split(".")[:2])
    return [
        f"io.delta_delta-spark_{spark}_*-{delta}.jar",
        f"io.delta_delta-storage-{delta}.jar",
        f"org.postgresql_postgresql-{driver}.jar",
    ]


def resolve_jars() -> None:
    if all(any(JARS.glob(pattern)) for pattern in jar_patterns()):
        return
    ivy = SPARK / "ivy"
    run(
        "resolving the jars of Delta and PostgreSQL with Spark's package resolver",
        [BIN / "python", "-c", RESOLVE_JARS, ivy, POSTGRESQL_DRIVER],
        "Maven Central must be reachable at the first run; check the network",
    )
    shutil.rmtree(JARS, ignore_errors=True)
    JARS.mkdir(parents=True)
    for pattern in jar_patterns():
        for jar in (ivy / "jars").glob(pattern):
            shutil.copy(jar, JARS)
    shutil.rmtree(ivy)


def set_logging() -> None:
    shutil.copy(LOGGING, JARS)


def archive_classes() -> None:
    """Create a class archive, so that Spark starts faster: Java maps it instead of loading jars.

    Java ignores the archive if it is missing or made for another Java or other jars. See the manual
    of the `java` command, section "Application Class Data Sharing".
    """
    with _alone():
        if ARCHIVE.exists() and ARCHIVE.stat().st_mtime > READY.stat().st_mtime:
            return
        started = time.time()
        directory = SPARK / "archiving"
        # A process that was killed leaves its files.
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        written = directory / ARCHIVE.name
        try:
            run(
                "archiving the Java classes of Spark, with which later commands start faster",
                [BIN / "python", "-c", LOAD_CLASSES, written, JARS, directory],
                "Spark does not start with this Java: install a JDK or JRE 17 and put it first on PATH",
            )
            # Moved only when complete, because Java fails on a partial archive. Optional, because
            # some Javas cannot write one.
            if written.exists():
                # Of the environment that was there at its start; a setup may have ended meanwhile.
                os.utime(written, (started, started))
                written.replace(ARCHIVE)
        finally:
            shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process writes the archive. The lock ends with this process."""
    directory = os.open(SPARK, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def archive_in_background() -> None:
    """Start a process that writes the archive while the processors have nothing better to do."""
    print(
        "setup: a process in the background archives the Java classes of Spark, with which later commands start "
        "faster; nothing waits for it",
        flush=True,
    )
    with (VENV / "archive.log").open("w") as log:
        subprocess.Popen(
            ["nice", "-n", "19", sys.executable, __file__, "archive"],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def remember_places() -> None:
    """Let dbt find the profile and its files from any directory while the environment is active."""
    activate = BIN / "activate"
    places = {"DBT_PROFILES_DIR": ROOT, "DELTA_SCD2_HOME": ROOT / ".spark", "DELTA_SCD2_JARS": JARS}
    lines = "".join(f"export {name}={shlex.quote(str(place))}\n" for name, place in places.items())
    if lines not in activate.read_text():
        with activate.open("a") as script:
            script.write(lines)


def set_up() -> None:
    check_python()
    check_java()
    print("setup: about two minutes the first time", flush=True)
    started = time.monotonic()
    # What follows may be interrupted, and `make` would take half of it for all.
    READY.unlink(missing_ok=True)
    install_packages()
    resolve_jars()
    set_logging()
    remember_places()
    READY.touch()
    print(f"setup: ready after {time.monotonic() - started:.0f} s", flush=True)
    archive_in_background()


def main(*arguments: str) -> int:
    try:
        if arguments == ("archive",):
            archive_classes()
        else:
            set_up()
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
