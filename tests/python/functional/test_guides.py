"""The examples of the guides, run as they stand there: the models, the commands, and the tables that they print."""

from __future__ import annotations

import re
import shlex

import pytest

from harness import ROOT, DbtProject

BLOCK = re.compile(r"```(sql|console)\n(.*?)```", re.DOTALL)
GUIDES = sorted(path for path in (ROOT / "docs" / "guides").glob("*.md") if "-- models/scratch/" in path.read_text())


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    return make_project({})


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_examples_of_a_guide(project: DbtProject, guide) -> None:
    shown = 0
    for language, block in BLOCK.findall(guide.read_text()):
        if language == "sql" and block.startswith("-- models/"):
            name, text = block.removeprefix("-- ").split("\n", 1)
            project.write({name: text})
        for command, output in re.findall(
            r"^\$ dbt (.*)\n((?:(?!\$).*\n)*)", block if language == "console" else "", re.MULTILINE
        ):
            result = project.dbt(*shlex.split(command))
            assert result.success, result.exception or [r.message for r in result.result.results]
            if output:
                table = result.result.results[0].agate_table
                rows = [["" if value is None else str(value) for value in row] for row in table.rows]
                assert [cells(line) for line in output.splitlines()] == [
                    list(table.column_names),
                    cells(output.splitlines()[1]),
                    *rows,
                ]
                shown += 1
    assert shown
