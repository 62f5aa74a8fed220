"""Write a starter model and its YAML for a table: `make new-dimension SOURCE=silver.customers`.

The macro `new_dimension` looks at the table and prints what the files should hold, each in a message whose first line
is a comment with the path. Nothing is written where a file of that path exists.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from delta_scd2.operations import OperationError, run_operation

PATH = re.compile(r"(?:--|#) (\S+\.(?:sql|py|yml))\n")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="the table, as schema.table")
    parser.add_argument(
        "--name", help="the name of the model; by default dim_ and the name of the table in the singular"
    )
    parser.add_argument(
        "--key", help="the columns of the business key, separated by commas; found from the data if not given"
    )
    parser.add_argument("--language", default="sql", choices=["sql", "python"])
    parser.add_argument("--project-dir", type=Path, default=Path.cwd())
    parser.add_argument("--profiles-dir", type=Path)
    given = parser.parse_args(arguments)

    asked = {"source": given.source, "language": given.language}
    asked |= {"name": given.name} if given.name else {}
    asked |= {"key": [name.strip() for name in given.key.split(",")]} if given.key else {}
    places = ["--project-dir", str(given.project_dir)]
    places += ["--profiles-dir", str(given.profiles_dir)] if given.profiles_dir else []
    try:
        messages = run_operation("new_dimension", asked, places)
    except OperationError as error:
        print(_complaint(str(error)), file=sys.stderr)
        return 1
    return _write(given.project_dir, messages)


def _complaint(error: str) -> str:
    """Extract the macro's message from dbt's error text."""
    found = re.search(r"new_dimension: (.+?)\n\s*\n", error, re.DOTALL)
    return re.sub(r"\n\s+", "\n", found[1]) if found else error


def _write(project: Path, messages: Sequence[str]) -> int:
    """Write the files in the messages; if one exists, write none."""
    files = {project / found[1]: text[found.end() :] for text in messages if (found := PATH.match(text))}
    print("\n".join(text for text in messages if not PATH.match(text)))
    taken = [path for path in files if path.exists()]
    if taken:
        print(f"{taken[0].relative_to(project)} exists already: move it, or give another NAME", file=sys.stderr)
        return 1
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.rstrip() + "\n", encoding="utf-8")
        print(f"wrote {path.relative_to(project)}")
    model = next(path.stem for path in files if path.suffix in (".sql", ".py"))
    print(f"Look at the files, then: dbt build --select +{model}")
    return 0


if __name__ == "__main__":
    # Ctrl-C ends the script at once, without a traceback from Spark.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
