{% macro validate_written_options(node, options) %}
    {{- return(delta_scd2._unknown_options(node, options) + delta_scd2._unsupported_options(node)
        + delta_scd2._hidden_options(node, options)) -}}
{% endmacro %}


{# `unrendered_config` lacks the options of a second `config()` call in a file, and
   `config_call_dict` those set elsewhere. #}
{% macro written_options(node) %}
    {{- return(((node.unrendered_config or {}).keys() | list
        + (node.config_call_dict or {}).keys() | list) | unique | list) -}}
{% endmacro %}


{# `config.extra` contains the options that are not dbt's own. #}
{% macro _unknown_options(node, options) %}
    {%- set of_tables = [
        'file_format', 'location_root', 'partition_by', 'tblproperties', 'submission_method'
    ] -%}
    {%- set mistakes = [] -%}
    {%- for name in config.model.config.extra
        if name in delta_scd2.written_options(node) and name not in options + of_tables
        and name not in delta_scd2._unsupported_option_remedies(node)
        and not delta_scd2._is_noted_by_dbt(node, name) -%}
        {%- do mistakes.append(delta_scd2.unknown_option(name, node.config.materialized, options)) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro unknown_option(name, materialization, options) %}
    {%- set near = delta_scd2.closest_match(name, options) -%}
    {%- set remedy = 'did you mean `' ~ near ~ '`?' if near
        else 'remove it, or keep it under `meta`' -%}
    {{- return('`' ~ name ~ '` is not an option of the ' ~ materialization
        ~ ' materialization: ' ~ remedy) -}}
{% endmacro %}


{# For a Python model, dbt adds entries that record which options its code reads; their names do not
   occur in the code. #}
{% macro _is_noted_by_dbt(node, name) %}
    {{- return(node.language == 'python' and name in (node.config_call_dict or {})
        and name not in node.raw_code) -}}
{% endmacro %}


{# Options of other materializations that have no effect here. Ignoring them silently would be
   misleading. #}
{% macro _unsupported_options(node) %}
    {%- set shared = delta_scd2._shared_options() -%}
    {%- set mistakes = [] -%}
    {%- for name, remedy in delta_scd2._unsupported_option_remedies(node).items()
        if name in delta_scd2.written_options(node) and delta_scd2._has_value(node.config.get(name))
        and not (name in shared and delta_scd2._is_of_the_project(node, name)) -%}
        {%- do mistakes.append('`' ~ name ~ '` has no effect in the ' ~ node.config.materialized
            ~ ' materialization: ' ~ remedy) -%}
    {%- endfor -%}
    {%- if (node.config.get('contract') or {}).get('enforced') -%}
        {%- do mistakes.append('`contract` has no effect in the ' ~ node.config.materialized
            ~ ' materialization: remove it') -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The options without effect, with the remedy for each. #}
{% macro _unsupported_option_remedies(node) %}
    {%- set remedies = {
        'buckets': 'remove it',
        'clustered_by': 'remove it',
        'options': 'remove it',
        'sql_header': 'remove it',
        'column_types': 'remove it, and cast the columns in the model',
        'on_configuration_change': 'remove it',
        'incremental_strategy': 'remove it',
        'incremental_predicates': 'remove it',
        'predicates': 'remove it',
        'batch_size': 'remove it',
        'begin': 'remove it',
        'lookback': 'remove it',
        'concurrent_batches': 'remove it',
        'merge_update_columns': 'remove it',
        'merge_exclude_columns': 'remove it',
    } -%}
    {%- if node.config.materialized == 'scd2' -%}
        {%- do remedies.update({
            'incremental_strategy': 'remove it; `source_kind` says what the rows are',
            'merge_update_columns': 'use `overwrite_columns` or `track_columns`',
            'merge_exclude_columns': 'use `ignore_columns`',
            'strategy': 'remove it; `track_columns` says what is compared',
            'check_cols': 'use `track_columns`',
            'updated_at': 'use `effective_at`: the time of an extract, or with `source_kind: increment` '
                ~ 'the time of a row',
            'invalidate_hard_deletes': 'use `hard_deletes`',
            'dbt_valid_to_current': 'use `open_end`',
            'snapshot_meta_column_names': 'use `scd2_columns`',
            'target_schema': 'use `schema`',
            'target_database': 'remove it',
        }) -%}
    {%- else -%}
        {%- do remedies.update({
            'on_schema_change': 'remove it; a changelog with other columns is refused'
        }) -%}
    {%- endif -%}
    {{- return(remedies) -}}
{% endmacro %}


{# If set for the whole project, these are meant for incremental models and materialized views. #}
{% macro _shared_options() %}
    {{- return([
        'incremental_strategy', 'merge_update_columns', 'batch_size', 'begin', 'lookback',
        'concurrent_batches', 'event_time', 'on_configuration_change', 'on_schema_change',
    ]) -}}
{% endmacro %}


{# Whether an option's value comes from dbt_project.yml, of this project or of the model's package,
   and not from the model's file or YAML. #}
{% macro _is_of_the_project(node, name) %}
    {%- set root = builtins.ref.config -%}
    {%- set values = [] -%}
    {%- for project in [root, root.load_dependencies().get(node.package_name, root)] -%}
        {%- do values.append(delta_scd2._value_for_models(project.models or {}, node.fqn, name)) -%}
    {%- endfor -%}
    {%- set in_file = (node.config_call_dict or {}).get(name) -%}
    {{- return(in_file is none and node.config[name] in (values | reject('none'))) -}}
{% endmacro %}


{# The value that the settings of a project have for a model, or none. #}
{% macro _value_for_models(options, fqn, name) %}
    {%- set place = namespace(options=options, value=none) -%}
    {%- for part in [none] + fqn -%}
        {%- set place.options = place.options if loop.first else place.options.get(part, {}) -%}
        {%- set place.options = place.options if place.options is mapping else {} -%}
        {%- set place.value = place.options.get('+' ~ name, place.options.get(name, place.value)) -%}
    {%- endfor -%}
    {{- return(place.value) -}}
{% endmacro %}


{% macro _has_value(value) %}
    {{- return(value not in [none, '', [], {}]) -}}
{% endmacro %}


{# dbt recommends moving unknown options to `meta`, but nothing reads them there. #}
{% macro _hidden_options(node, options) %}
    {%- set mistakes = [] -%}
    {%- for name in options if name in (node.config.meta or {}) and name not in node.config -%}
        {%- do mistakes.append('`meta` holds `' ~ name
            ~ '`, which has no effect there: move it out of `meta`') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# dbt filters readers of the table by `event_time` in a run with `--sample`, and in microbatch
   models. #}
{% macro validate_event_time(node, columns, instead=none) %}
    {%- set name = node.config.get('event_time') -%}
    {%- if not name or name | lower in columns | map('lower')
        or delta_scd2._is_of_the_project(node, 'event_time') -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return(['`event_time` names the column `' ~ name ~ '`, which the table does not have: '
        ~ ('name `' ~ instead ~ '`, or remove it' if instead else 'remove it')]) -}}
{% endmacro %}
