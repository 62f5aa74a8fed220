{% macro scd2_settings(node) %}
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
    {%- do names.update(_mapping(var('scd2_columns', {}))) -%}
    {%- do names.update(_mapping(config.get('scd2_columns'))) -%}
    {%- for role, name in names.items() if name is not none -%}
        {%- do names.update({role: name | string | replace('{entity}', entity)}) -%}
    {%- endfor -%}

    {%- set settings = {
        'unique_key': _as_list(config.get('unique_key')),
        'source_kind': _given(config, 'source_kind', 'snapshot'),
        'effective_at': config.get('effective_at'),
        'track_columns': _as_list(config.get('track_columns')),
        'ignore_columns': _as_list(config.get('ignore_columns')),
        'overwrite_columns': _as_list(config.get('overwrite_columns')),
        'sequence_by': _as_list(config.get('sequence_by')),
        'change_type': _given(config, 'change_type', '_change_type' if config.get('source_kind') == 'changelog' else none),
        'inferred_member': config.get('inferred_member'),
        'unknown_member': _given(config, 'unknown_member', false),
        'on_schema_change': _schema_policy(node),
        'merge_plan': _given(config, 'merge_plan', 'staged'),
        'hard_deletes': _given(config, 'hard_deletes', 'soft_delete'),
        'surrogate_key': config.get('surrogate_key', 'hash') or 'none',
        'open_end': config.get('open_end', '9999-12-31'),
        'closing_gap': _given(config, 'closing_gap', '0'),
        'flag_values': _given(config, 'flag_values', [true, false]),
        'max_delete_fraction': _given(config, 'max_delete_fraction', 0.5),
        'min_rows': _given(config, 'min_rows', 1),
        'columns': names,
    } -%}
    {%- if settings.surrogate_key == 'none' -%}
        {%- do names.update({'surrogate_key': none}) -%}
    {%- endif -%}
    {{- return(settings) -}}
{% endmacro %}


{# dbt fills in a default of its own, so what was written down is asked for. #}
{% macro _schema_policy(node) %}
    {{- return(node.config.get('on_schema_change') if 'on_schema_change' in _written_options(node) else 'append_new_columns') -}}
{% endmacro %}


{# dbt hands over an option that is not given, and one that is given as null, alike. #}
{% macro _given(config, option, default) %}
    {%- set value = config.get(option) -%}
    {{- return(default if value is none else value) -}}
{% endmacro %}


{% macro _as_list(value) %}
    {%- if value is none -%}
        {{- return([]) -}}
    {%- elif value is string or value is not iterable -%}
        {{- return([value | string]) -}}
    {%- endif -%}
    {{- return(value | map('string') | list) -}}
{% endmacro %}


{# A value of another kind is a mistake that is told later, with all others. #}
{% macro _mapping(value) %}
    {{- return(value if value is mapping else {}) -}}
{% endmacro %}
