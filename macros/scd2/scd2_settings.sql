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
        'stored_as': _stored_as(entity),
    } -%}
    {%- if settings.surrogate_key == 'none' -%}
        {%- do names.update({'surrogate_key': none}) -%}
    {%- endif -%}
    {{- return(settings) -}}
{% endmacro %}


{# What the columns are called that a change data feed adds to the rows of its table. A table that holds one by its own name
   cannot have a feed itself. #}
{% macro _stored_as(entity) %}
    {%- set names = {} -%}
    {%- for name in ['_change_type', '_commit_version', '_commit_timestamp'] -%}
        {%- do names.update({name: entity ~ name}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{% endmacro %}


{# A table of earlier days keeps the names that it has. #}
{% macro _keep_stored_names(settings, stored_names) %}
    {%- for name in settings.stored_as.keys() | list if name in stored_names -%}
        {%- do settings.stored_as.pop(name) -%}
    {%- endfor -%}
{% endmacro %}


{% macro _stored_name(settings, name) %}
    {{- return(settings.stored_as.get(name | lower, name)) -}}
{% endmacro %}


{# The inverse. #}
{% macro _given_name(settings, name) %}
    {%- for given, stored in settings.stored_as.items() if stored | lower == name | lower -%}
        {{- return(given) -}}
    {%- endfor -%}
    {{- return(name) -}}
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
