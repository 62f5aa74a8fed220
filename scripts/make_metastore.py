"""Create the tables of a shared metastore in an empty PostgreSQL database.

The environment variables of the profile name the database. Hive would also create the tables one
by one while using others, but on PostgreSQL that deadlocks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pyspark

from setup import find_java

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
JARS = Path(__file__).resolve().parent.parent / ".spark" / "jars"
SCHEMA_TOOL = "org.datanucleus.store.schema.SchemaTool"


def main() -> int:
    url = os.environ.get("DELTA_SCD2_METASTORE_URL", "")
    if not url.startswith("jdbc:postgresql:"):
        print(
            "metastore: DELTA_SCD2_METASTORE_URL is not a PostgreSQL database, such as jdbc:postgresql://host/database",
            file=sys.stderr,
        )
        return 1
    properties = {
        "javax.jdo.option.ConnectionURL": url,
        "javax.jdo.option.ConnectionDriverName": "org.postgresql.Driver",
        "javax.jdo.option.ConnectionUserName": os.environ.get("DELTA_SCD2_METASTORE_USER", "APP"),
        "javax.jdo.option.ConnectionPassword": os.environ.get("DBT_ENV_SECRET_METASTORE_PASSWORD", "mine"),
        # Hive's own setting, so that it finds the tables by name.
        "datanucleus.identifierFactory": "datanucleus1",
    }
    with tempfile.TemporaryDirectory() as directory:
        settings = Path(directory) / "metastore.properties"
        settings.touch(mode=0o600)
        # Java properties use the same escapes as JSON for backslashes and non-Latin characters.
        lines = [f"{name}={json.dumps(value)[1:-1]}" for name, value in properties.items()]
        settings.write_text("\n".join(lines))
        (library,) = SPARK_JARS.glob("hive-metastore-*.jar")
        with zipfile.ZipFile(library) as hive:
            tables = hive.extract("package.jdo", directory)
        class_path = os.pathsep.join([f"{SPARK_JARS}/*", f"{JARS}/*"])
        tool = [SCHEMA_TOOL, "-create", "-api", "JDO", "-props", str(settings), tables]
        command = [find_java(), "-cp", class_path, *tool]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"metastore: its tables could not be made:\n{done.stdout}{done.stderr}", file=sys.stderr)
        return 1
    print("metastore: ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())
