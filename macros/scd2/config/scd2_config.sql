{% macro scd2_config(node) %}
    {{- return(delta_scd2.settings_of(
        node.name, node.config, node.package_name, delta_scd2._schema_policy(node)
    )) -}}
{% endmacro %}


{# The settings of a dimension of this name and configuration, which belongs to the package. #}
{% macro settings_of(name, config, package, on_schema_change='append_new_columns') %}
    {%- set entity = name | replace('dim_', '', 1) if name.startswith('dim_') else name -%}
    {%- set names = delta_scd2.default_column_names() -%}
    {%- do names.update(delta_scd2.as_mapping(
        delta_scd2.var_of_package(package or project_name, 'scd2_columns', {})
    )) -%}
    {%- do names.update(delta_scd2.as_mapping(config.get('scd2_columns'))) -%}
    {%- for role, name in names.items() if name is not none -%}
        {%- do names.update({role: name | string | replace('{entity}', entity)}) -%}
    {%- endfor -%}
    {%- set surrogate_key = config.get('surrogate_key', 'hash') or 'none' -%}
    {%- do names.update({'surrogate_key': none}) if surrogate_key == 'none' -%}

    {{- return(delta_scd2.with_meanings(dict({
        'unique_key': delta_scd2.as_list(config.get('unique_key')),
        'source_kind': delta_scd2.option_or_default(config, 'source_kind', 'snapshot'),
        'effective_at': config.get('effective_at'),
        'track_columns': delta_scd2.as_list(config.get('track_columns')),
        'ignore_columns': delta_scd2.as_list(config.get('ignore_columns')),
        'overwrite_columns': delta_scd2.as_list(config.get('overwrite_columns')),
        'sequence_by': delta_scd2.as_list(config.get('sequence_by')),
        'change_type': delta_scd2.option_or_default(config, 'change_type',
            '_change_type' if config.get('source_kind') == 'changelog' else none),
        'inferred_member': config.get('inferred_member'),
        'unknown_member': delta_scd2.option_or_default(config, 'unknown_member', false),
        'on_schema_change': on_schema_change,
        'merge_plan': delta_scd2.option_or_default(config, 'merge_plan', 'staged'),
        'hard_deletes': delta_scd2.option_or_default(config, 'hard_deletes', 'soft_delete'),
        'surrogate_key': surrogate_key,
        'open_end': config.get('open_end', '9999-12-31'),
        'closing_gap': delta_scd2.option_or_default(config, 'closing_gap', '0'),
        'flag_values': delta_scd2.option_or_default(config, 'flag_values', [true, false]),
        'max_delete_fraction': delta_scd2.option_or_default(config, 'max_delete_fraction', 0.5),
        'min_rows': delta_scd2.option_or_default(config, 'min_rows', 1),
        'columns': names,
        'stored_as': delta_scd2.stored_names(entity),
    }, **delta_scd2.unavailable_options(config)))) -}}
{% endmacro %}


{# The columns that a dimension adds to those of its model, by role and in their order. A column
   whose default is none is added only if it is given a name. #}
{% macro default_column_names() %}
    {{- return({
        'surrogate_key': '{entity}_sk',
        'durable_key': '{entity}_hk',
        'hash_diff': 'hash_diff',
        'state_hash': none,
        'effective_from': 'effective_from',
        'effective_to': 'effective_to',
        'is_current': 'is_current',
        'is_deleted': 'is_deleted',
    }) -}}
{% endmacro %}


{# Adds booleans derived from the options, so that no other macro compares option values. #}
{% macro with_meanings(settings) %}
    {%- set reads_extracts = settings.source_kind == 'snapshot' -%}
    {{- return(dict(
        settings,
        reads_extracts=reads_extracts,
        keeps_events=settings.source_kind == 'changelog',
        detects_absence=reads_extracts and settings.hard_deletes != 'ignore',
        ignores_deletes=settings.hard_deletes == 'ignore',
        keeps_tombstones=settings.hard_deletes == 'new_record',
        keeps_deleted_current=settings.hard_deletes == 'soft_delete',
        ends_deleted=settings.hard_deletes == 'invalidate',
        flags_deletions=settings.hard_deletes in ['soft_delete', 'invalidate'],
        has_sequence_keys=settings.surrogate_key == 'sequence',
        has_hash_keys=settings.surrogate_key == 'hash',
        refuses_new_columns=settings.on_schema_change == 'fail',
        ignores_new_columns=settings.on_schema_change == 'ignore',
        appends_new_columns=settings.on_schema_change == 'append_new_columns',
        follows_feed='_commit_version' in settings.sequence_by | map('lower'),
        merges_by_three_clauses=settings.merge_plan == 'three_clause',
    )) -}}
{% endmacro %}


{# dbt fills in its own default, so only an option that was written counts. #}
{% macro _schema_policy(node) %}
    {{- return(node.config.get('on_schema_change')
        if 'on_schema_change' in delta_scd2.written_options(node) else 'append_new_columns') -}}
{% endmacro %}


{% macro scd2_options() %}
    {{- return([
        'unique_key', 'source_kind', 'effective_at', 'sequence_by', 'change_type', 'track_columns',
        'overwrite_columns', 'ignore_columns', 'hard_deletes', 'surrogate_key', 'open_end',
        'closing_gap', 'scd2_columns', 'flag_values', 'on_schema_change', 'unknown_member',
        'inferred_member', 'unavailable_columns', 'unavailable_value', 'max_delete_fraction', 'min_rows',
        'merge_plan',
    ]) -}}
{% endmacro %}
