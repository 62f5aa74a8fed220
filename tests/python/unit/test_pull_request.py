"""What a pull request runs: steps that are make targets, models that changed, and the conventions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.cli.main import dbtRunner

from harness import ROOT, copy_demo
from state import ARTIFACT, CHANGED, SHARED, WORKFLOW, State

Edit = Callable[[Path, str, str], None]


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every step of the workflows and of the action that they share, with the name of its file."""
    for path in [*(ROOT / ".github" / "workflows").glob("*.yml"), *(ROOT / ".github" / "actions").glob("*/action.yml")]:
        content = yaml.safe_load(path.read_text())
        for part in [*content.get("jobs", {}).values(), content.get("runs", {})]:
            for step in part.get("steps", []):
                yield path.name, step


def commands(file: str) -> list[str]:
    return [step["run"] for name, step in steps() if name == file and "run" in step]


def test_every_command_is_one_make_target() -> None:
    found = [step["run"] for _, step in steps() if "run" in step]
    assert found
    for command in found:
        make, target = command.split()
        assert make == "make"
        dry = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert dry.returncode == 0, dry.stderr


def test_every_action_is_pinned_to_a_commit_and_names_its_version() -> None:
    text = "\n".join(path.read_text() for path in (ROOT / ".github").rglob("*.yml"))
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, comment in used:
        if action.startswith("./"):
            assert (ROOT / action / "action.yml").exists()
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment), action


def test_the_full_check_has_the_steps_of_ci_run() -> None:
    (targets,) = re.findall(r"for target in (.*); do", (ROOT / ".ci" / "run").read_text())
    assert commands("action.yml") + commands("ci.yml") == [f"make {target}" for target in targets.split()]


def test_the_state_is_fetched_from_the_workflow_that_keeps_it() -> None:
    assert commands(WORKFLOW) == ["make state"]
    uploads = [step["with"]["name"] for name, step in steps() if name == WORKFLOW and "upload" in step.get("uses", "")]
    assert uploads == [ARTIFACT]


def test_hooks_run_the_locked_tools_and_fetch_nothing() -> None:
    config = ROOT / ".pre-commit-config.yaml"
    pre_commit = Path(sys.executable).with_name("pre-commit")
    subprocess.run([pre_commit, "validate-config", config], check=True)
    (repository,) = yaml.safe_load(config.read_text())["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        tool = hook["entry"].split()[0]
        assert tool == "make" or (ROOT / tool).parent == ROOT / ".venv" / "bin"
        assert tool == "make" or Path(sys.executable).with_name(Path(tool).name).exists()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, with its manifest as the state of main."""
    directory = tmp_path_factory.mktemp("project")
    copy_demo(directory)
    dbt(directory, "parse")
    (directory / "state").mkdir()
    shutil.copy(directory / "target" / "manifest.json", directory / "state")
    return directory


def dbt(directory: Path, *args: str) -> Any:
    result = dbtRunner().invoke([*args, "--quiet", "--project-dir", str(directory), "--profiles-dir", str(directory)])
    assert result.success, result.exception
    return result.result


def selected(directory: Path) -> set[str]:
    arguments = [*CHANGED, "--state", str(directory / "state"), "--output", "name", "--resource-type", "model"]
    return set(dbt(directory, "ls", *arguments))


@pytest.mark.parametrize(
    ("name", "old", "new", "models"),
    [
        ("models/staging/shop/stg_shop__orders.sql", "    region,", "    upper(region) as region,",
         {"stg_shop__orders", "fct_order"}),
        ("models/gold/dim_airport.py", "return", "dbt.config(min_rows=5)\n    return", {"dim_airport"}),
        ("macros/point_in_time/as_of_join.sql", "{%- endmacro", "{%- set _ = 1 -%}\n{%- endmacro", {"fct_order"}),
        ("seeds/crm_customer_extracts.csv", "\n", "\n2022-01-01 00:00:00,EU,0009,Zoe\n",
         {"stg_crm__customers", "dim_customer", "fct_order"}),
        ("models/gold/_gold__models.yml", "Price, in euros.", "The price, in euros.", set()),
    ],
    ids=["a model", "a Python model", "a macro", "a seed", "a description"],
)  # fmt: skip
def test_what_changed_is_selected_with_what_depends_on_it(
    copy: Path, edit: Edit, name: str, old: str, new: str, models: set[str]
) -> None:
    edit(copy / name, old, new)
    assert selected(copy) == models


def test_another_schema_is_no_change(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTA_SCD2_SCHEMA", "pr_7")
    assert selected(copy) == set()


def test_breaches_of_conventions_are_named(copy: Path, edit: Edit) -> None:
    edit(copy / "models/gold/dim_airport_sql.sql", "materialized='scd2'", "materialized='table'")
    edit(copy / "models/gold/dim_sales.sql", "ref('stg_shop__sales')", "ref('shop_sales_extracts')")
    edit(copy / "models/gold/fct_order.sql", "ref('stg_shop__orders')", "source('airportsdata', 'airports')")
    edit(copy / "models/gold/_gold__models.yml", "      - delta_scd2.one_current_row_per_key\n", "")
    edit(
        copy / "models/staging/crm/stg_crm__customers.sql",
        "from {{ ref(",
        "from {{ ref('stg_shop__orders') }}, {{ ref(",
    )
    edit(copy / "models/staging/crm/_crm__models.yml", "data_type: string, ", "")
    dbt(copy, "parse")
    bouncer = Path(sys.executable).with_name("dbt-bouncer")
    done = subprocess.run(
        [bouncer, "run", "--output-file", "breaches.json", "--output-only-failures"],
        cwd=copy, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    breaches = {
        (b["check_run_id"].split(":")[0], b["check_run_id"].split(":")[-1]) for b in _json(copy / "breaches.json")
    }
    assert breaches >= {
        ("check_dimension_keeps_history", "dim_airport_sql"),
        ("check_lineage_seed_cannot_be_used", "dim_sales"),
        ("check_lineage_source_cannot_be_used", "fct_order"),
        ("check_model_has_tests_by_name", "dim_airport"),
        ("check_lineage_permitted_upstream_models", "stg_crm__customers"),
        ("check_model_columns_have_types", "stg_crm__customers"),
    }


def _json(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.fixture
def fake_gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """GitHub's command line as a script that knows one run with one file."""
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(
        "#!/bin/sh\n"
        'if [ "$2" = list ]; then echo 4711; exit; fi\n'
        'test "$*" = "run download 4711 --name state --dir $7" || exit 2\n'
        'mkdir -p "$7"; echo "{}" > "$7/manifest.json"\n'
    )
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", str(gh.parent), prepend=":")
    return gh


def test_the_state_of_main_is_fetched(fake_gh: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = State(tmp_path)
    assert state.fetch() == 0
    assert state.manifest.exists()
    assert capsys.readouterr().out == "state: main as of run 4711\n"


def test_without_a_state_of_main_the_reason_is_told(
    fake_gh: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_gh.write_text("#!/bin/sh\n")
    state = State(tmp_path)
    assert state.fetch() == 0
    assert capsys.readouterr().out == "state: CI has kept no state of main\n"
    assert str(state.why_unusable()).startswith("there is no state of main in target/state")


def test_a_download_that_fails_leaves_the_state_that_is_here(
    fake_gh: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = State(tmp_path)
    assert state.fetch() == 0
    fake_gh.write_text('#!/bin/sh\nif [ "$2" = list ]; then echo 4711; else echo "artifact expired" >&2; exit 1; fi\n')
    assert state.fetch() == 0
    assert state.manifest.exists()
    assert capsys.readouterr().out.splitlines()[-1] == "state: artifact expired"


def test_shared_tables_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = r"env_var\('(\w+_(?:WAREHOUSE|METASTORE\w*|SCHEMA))'"
    assert set(re.findall(places, (ROOT / "profiles.yml").read_text())) == set(SHARED)
    dbt = tmp_path / "dbt"
    dbt.write_text('#!/bin/sh\nenv > "$DBT_PROFILES_DIR/environment"\n')
    dbt.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    for name in SHARED:
        monkeypatch.setenv(name, "shared")
    assert State(tmp_path).build(rebuild=True) == 0
    given = (tmp_path / "environment").read_text()
    assert "=shared" not in given
    assert f"DELTA_SCD2_HOME={tmp_path}" in given


def test_a_state_made_elsewhere_is_not_restored(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.directory.mkdir(parents=True)
    for path in (state.manifest, state.warehouse):
        path.touch()
    state.made_in.write_text("/elsewhere")
    assert state.why_unusable() == "the state of main was made in /elsewhere and its metastore holds that path"
