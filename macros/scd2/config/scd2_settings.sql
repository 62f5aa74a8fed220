{% macro scd2_config(node) %}
    {%- set config = node.config -%}
    {%- set entity = node.name | replace('dim_', '', 1) if node.name.startswith('dim_') else node.name -%}
    {%- set names = {
        'surrogate_key': '{entity}_sk',
        'durable_key': '{entity}_hk',
        'hash_diff': 'hash_diff',
        'state_hash': none,
        'effective_from': 'effective_from',
        'effective_to': 'effective_to',
        'is_current': 'is_current',
        'is_deleted': 'is_deleted',
    } -%}
    {%- do names.update(as_mapping(var('scd2_columns', {}))) -%}
    {%- do names.update(as_mapping(config.get('scd2_columns'))) -%}
    {%- for role, name in names.items() if name is not none -%}
        {%- do names.update({role: name | string | replace('{entity}', entity)}) -%}
    {%- endfor -%}

    {%- set settings = {
        'unique_key': as_list(config.get('unique_key')),
        'source_kind': option_or_default(config, 'source_kind', 'snapshot'),
        'effective_at': config.get('effective_at'),
        'track_columns': as_list(config.get('track_columns')),
        'ignore_columns': as_list(config.get('ignore_columns')),
        'overwrite_columns': as_list(config.get('overwrite_columns')),
        'sequence_by': as_list(config.get('sequence_by')),
        'change_type': option_or_default(config, 'change_type', '_change_type' if config.get('source_kind') == 'changelog' else none),
        'inferred_member': config.get('inferred_member'),
        'unknown_member': option_or_default(config, 'unknown_member', false),
        'on_schema_change': _schema_policy(node),
        'merge_plan': option_or_default(config, 'merge_plan', 'staged'),
        'hard_deletes': option_or_default(config, 'hard_deletes', 'soft_delete'),
        'surrogate_key': config.get('surrogate_key', 'hash') or 'none',
        'open_end': config.get('open_end', '9999-12-31'),
        'closing_gap': option_or_default(config, 'closing_gap', '0'),
        'flag_values': option_or_default(config, 'flag_values', [true, false]),
        'max_delete_fraction': option_or_default(config, 'max_delete_fraction', 0.5),
        'min_rows': option_or_default(config, 'min_rows', 1),
        'columns': names,
        'stored_as': stored_names(entity),
    } -%}
    {%- if settings.surrogate_key == 'none' -%}
        {%- do names.update({'surrogate_key': none}) -%}
    {%- endif -%}
    {{- return(settings) -}}
{% endmacro %}


{# dbt fills in a default of its own, so what was written down is asked for. #}
{% macro _schema_policy(node) %}
    {{- return(node.config.get('on_schema_change') if 'on_schema_change' in written_options(node) else 'append_new_columns') -}}
{% endmacro %}
