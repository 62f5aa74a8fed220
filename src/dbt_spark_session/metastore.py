"""Locks an embedded metastore, so that a second process fails with a clear error."""

from __future__ import annotations

import fcntl
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from dbt_common.exceptions import DbtRuntimeError

URL = "spark.hadoop.javax.jdo.option.ConnectionURL"

# dbt opens connections in several threads; a lock is held as long as its file is open.
_opening = threading.Lock()
_held: dict[Path, TextIO] = {}


def hold(parameters: Mapping[str, str]) -> None:
    """Lock the Derby database configured for a session until this process ends.

    Other metastores need no lock. Raises DbtRuntimeError if another process holds the lock.
    """
    embedded = re.match(r"jdbc:derby:;databaseName=([^;]+)", parameters.get(URL, ""))
    if embedded is None:
        return
    metastore = Path(embedded[1]).resolve()
    with _opening:
        if metastore not in _held:
            _held[metastore] = _locked(metastore, parameters.get("spark.sql.warehouse.dir", ""))


def _locked(metastore: Path, warehouse: str) -> TextIO:
    path = metastore.with_name(f"{metastore.name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+")
    try:
        # Derby's own lock is tried only after Spark has started, too late for a clear error.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read()
        file.close()
        place = warehouse if "://" in warehouse else Path(warehouse).resolve()
        raise DbtRuntimeError(
            f"another process ({holder}) is using the warehouse {place}: its embedded metastore, "
            f"{metastore}, serves one process at a time.\nNothing was written. Remedy: wait until that process has "
            "ended, give one of the two another warehouse and metastore in its profile (in that of delta-scd2, with "
            "DELTA_SCD2_HOME), or share a metastore (guide from-one-machine-to-a-cluster)."
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
