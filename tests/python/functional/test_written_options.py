"""Options by what a person wrote: in the file, in YAML or for the whole project, in SQL and in Python."""

from __future__ import annotations

import pytest

from harness import PROJECT_YML, DbtProject

SCD2 = "materialized='scd2', unique_key='id', effective_at='at'"
SCD1 = "materialized='scd1', unique_key='id'"
QUERY = "\nselect 1 as id, 'a' as name, timestamp '2024-01-01' as at, 'I' as _change_type, 1 as _change_ordinal"
NO_CHANGES = "\nselect 1 as id, 'a' as name, timestamp '2024-01-01' as at"

PYTHON_MODEL = """
def model(dbt, session):
    dbt.config({config})
    dbt.config.get("materialized", "none")
    dbt.config.get("meta")
    return session.sql("{query}")
"""

# What other materializations take, without effect on both of ours.
IDLE = {
    "incremental_strategy": "merge",
    "merge_update_columns": ["name"],
    "merge_exclude_columns": ["name"],
    "incremental_predicates": ["true"],
    "predicates": ["true"],
    "batch_size": "day",
    "begin": "2024-01-01",
    "lookback": 0,
    "concurrent_batches": False,
    "on_configuration_change": "fail",
    "column_types": {"id": "int"},
    "buckets": 4,
    "clustered_by": "id",
    "options": {"a": "b"},
    "sql_header": "-- nothing",
}
# What dbt's snapshots call it, and what a dimension does.
OF_SNAPSHOTS = {
    "check_cols": "track_columns",
    "updated_at": "effective_at",
    "invalidate_hard_deletes": "hard_deletes",
    "dbt_valid_to_current": "open_end",
    "snapshot_meta_column_names": "scd2_columns",
    "target_schema": "schema",
}
# What has an effect, or none on any model.
ACCEPTED = (
    "event_time='NAME', full_refresh=false, tags=['a'], meta={'a': 1}, access='public', grants={}, persist_docs={}, "
    "pre_hook='select 1', post_hook=['select 1'], enabled=true, docs={'show': false}, quoting={}, packages=[], "
    "static_analysis='off', batch_size=none, merge_update_columns=none, partition_by='name', tblproperties={'a': 'b'}"
)


def arguments(options: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def yaml(options: dict[str, object]) -> str:
    return "{" + ", ".join(f"{name}: {value!r}" for name, value in options.items()).replace("False", "false") + "}"


def python_model(config: str) -> str:
    return PYTHON_MODEL.format(config=config, query=NO_CHANGES.strip())


@pytest.fixture(scope="module")
def refused(make_project) -> dict[str, str]:
    """What each wrong model is answered, by name."""
    not_jinja = {name: value for name, value in IDLE.items() if name != "sql_header"}
    of_snapshots = {**dict.fromkeys(OF_SNAPSHOTS, "name"), "snapshot_meta_column_names": {"dbt_valid_to": "until"}}
    first = f"{{{{ config({SCD2}) }}}}{{% set day = var('day', 1) %}}"
    project = make_project({
        "models/file_2.sql": f"{{{{ config({SCD2}, {arguments(IDLE)}) }}}}{NO_CHANGES}",
        "models/file_1.sql": f"{{{{ config({SCD1}, {arguments(IDLE)}, on_schema_change='fail') }}}}{QUERY}",
        "models/yaml_2.sql": f"{{{{ config({SCD2}) }}}}{NO_CHANGES}",
        "models/yaml_1.sql": f"{{{{ config({SCD1}) }}}}{QUERY}",
        "models/python_2.py": python_model(f"{SCD2}, {arguments(not_jinja)}, hard_delet='x'"),
        "models/snapshots.sql": f"{{{{ config({SCD2}, {arguments(of_snapshots)}) }}}}{NO_CHANGES}",
        # dbt's record of what stands in a file knows the first call alone.
        "models/split.sql": first + "{{ config(batch_size='day', hard_delet='ignore') }}" + NO_CHANGES,
        "models/called.sql": first + "{{ configured() }}" + NO_CHANGES,
        "macros/configured.sql": "{% macro configured() %}{{ config(batch_size='day', hard_delet='x') }}"
        "{% endmacro %}",
        "models/in_meta.sql": f"{{{{ config({SCD2}, meta={{'hard_deletes': 'ignore', 'owner': 'me'}}) }}}}{NO_CHANGES}",
        "models/event_2.sql": f"{{{{ config({SCD2}, event_time='at') }}}}{NO_CHANGES}",
        "models/event_1.sql": f"{{{{ config({SCD1}, event_time='_change_ordinal') }}}}{QUERY}",
        "models/of_folder/folder_2.sql": f"{{{{ config({SCD2}) }}}}{NO_CHANGES}",
        "models/schema.yml": f"models: [{{name: yaml_2, config: {yaml(IDLE)}}}, "
        f"{{name: yaml_1, config: {yaml(IDLE)}}}]",
    })  # fmt: skip
    of_project = "models: {tested: {of_folder: {+hard_delet: ignore, +sql_header: '-- none'}, +file_format: delta}}\n"
    text = PROJECT_YML.replace("models: {tested: {+file_format: delta}}\n", of_project)
    text = text.replace("use_colors: false", "use_colors: false, state_modified_compare_more_unrendered_values: true")
    project.write({"dbt_project.yml": text})
    results = project.dbt("run").result.results
    assert {str(result.status) for result in results} == {"error"}
    assert {name for name in project.relations() if "__" not in name} == set()
    return {result.node.name: str(result.message) for result in results}


@pytest.mark.parametrize("name", ["file_2", "file_1", "yaml_2", "yaml_1", "python_2"])
def test_each_option_without_effect_is_named(refused: dict[str, str], name: str) -> None:
    materialization = "scd1" if name.endswith("1") else "scd2"
    expected = {option for option in IDLE if (name, option) != ("python_2", "sql_header")}
    expected |= {"on_schema_change"} if name == "file_1" else set()
    for option in expected:
        assert f"`{option}` has no effect in the {materialization} materialization: " in refused[name]
    assert f"{len(expected) + (name == 'python_2')} mistake(s)" in refused[name]


def test_words_of_snapshots_lead_to_those_of_dimensions(refused: dict[str, str]) -> None:
    assert f"{len(OF_SNAPSHOTS)} mistake(s)" in refused["snapshots"]
    for option, instead in OF_SNAPSHOTS.items():
        assert f"`{option}` has no effect in the scd2 materialization: use `{instead}`" in refused["snapshots"]


@pytest.mark.parametrize("name", ["split", "called", "python_2"])
def test_what_is_written_in_pieces_is_written(refused: dict[str, str], name: str) -> None:
    assert "`hard_delet` is not an option of the scd2 materialization: did you mean `hard_deletes`?" in refused[name]
    assert "`batch_size` has no effect in the scd2 materialization" in refused[name]


def test_a_wrong_word_for_a_folder_is_refused_too(refused: dict[str, str]) -> None:
    assert "2 mistake(s)" in refused["folder_2"]
    assert "did you mean `hard_deletes`?" in refused["folder_2"]
    assert "`sql_header` has no effect" in refused["folder_2"]


def test_an_option_that_lies_in_meta_is_refused(refused: dict[str, str]) -> None:
    assert "1 mistake(s)" in refused["in_meta"]
    assert "`meta` holds `hard_deletes`, which has no effect there: move it out of `meta`" in refused["in_meta"]


def test_an_event_time_must_be_a_column_of_the_table(refused: dict[str, str]) -> None:
    assert "`at`, which the table does not have: name `effective_from`, or remove it" in refused["event_2"]
    assert "`_change_ordinal`, which the table does not have: remove it" in refused["event_1"]


def test_what_is_said_of_the_whole_project_is_for_models_that_take_it(make_project) -> None:
    whole = (
        "+incremental_strategy: merge, +batch_size: day, +on_schema_change: fail, +event_time: loaded_at, "
        "+on_configuration_change: fail, +lookback: 3, +begin: 2024-01-01 00:00:00"
    )
    project: DbtProject = make_project({
        "models/dim_plain.sql": f"{{{{ config({SCD2}) }}}}{NO_CHANGES}",
        "models/dim_full.sql": f"{{{{ config({SCD2}, {ACCEPTED}) }}}}{NO_CHANGES}",
        "models/dim_python.py": python_model(f"{SCD2}, event_time='effective_from'"),
        "models/copy.sql": f"{{{{ config({SCD1}) }}}}{QUERY}",
        "models/in_yaml.sql": f"{{{{ config({SCD2}) }}}}{NO_CHANGES}",
        "models/in_file.sql": f"{{{{ config({SCD2}, batch_size='day') }}}}{NO_CHANGES}",
        "models/policy.sql": f"{{{{ config({SCD2}) }}}}{{{{ config(on_schema_change='ignore') }}}}"
        "select 1 as id, timestamp '2024-01-01' as at{{ ', 2 as more' if var('day', 1) == 2 }}",
        "models/schema.yml": "models: [{name: in_yaml, config: {lookback: 2}}]",
    })  # fmt: skip
    text = PROJECT_YML.replace("+file_format: delta}}\n", f"+file_format: delta, {whole}}}}}\n", 1)
    text = text.replace("use_colors: false", "use_colors: false, state_modified_compare_more_unrendered_values: true")
    project.write({"dbt_project.yml": text})
    built = {result.node.name: result for result in project.dbt("run").result.results}
    assert "`batch_size` has no effect in the scd2 materialization" in built.pop("in_file").message
    assert "`lookback` has no effect in the scd2 materialization" in built.pop("in_yaml").message
    assert {name: str(result.status) for name, result in built.items()} == dict.fromkeys(built, "success")
    # The policy stands in a second call, of which dbt's record of the file knows nothing.
    project.succeed("run", "--select", "policy", "--vars", "day: 2")
    assert [row.col_name for row in project.sql("describe {schema}.policy")][:3] == ["policy_sk", "policy_hk", "id"]
    assert "more" not in {row.col_name for row in project.sql("describe {schema}.policy")}
