{% macro scd2_settings(node) %}
    {%- set config = node.config -%}
    {%- set entity = node.name | replace('dim_', '', 1) if node.name.startswith('dim_') else node.name -%}
    {%- set names = {
        'surrogate_key': '{entity}_sk',
        'durable_key': '{entity}_hk',
        'hash_diff': 'hash_diff',
        'effective_from': 'effective_from',
        'effective_to': 'effective_to',
        'is_current': 'is_current',
        'is_deleted': 'is_deleted',
    } -%}
    {%- do names.update(var('scd2_columns', {})) -%}
    {%- do names.update(config.get('scd2_columns') or {}) -%}
    {%- for role, name in names.items() -%}
        {%- do names.update({role: name | string | replace('{entity}', entity)}) -%}
    {%- endfor -%}

    {%- set settings = {
        'unique_key': _as_list(config.get('unique_key')),
        'source_kind': config.get('source_kind') or 'snapshot',
        'effective_at': config.get('effective_at'),
        'track_columns': _as_list(config.get('track_columns')),
        'ignore_columns': _as_list(config.get('ignore_columns')),
        'hard_deletes': config.get('hard_deletes') or 'soft_delete',
        'surrogate_key': config.get('surrogate_key') or 'hash',
        'open_end': config.get('open_end', '9999-12-31'),
        'closing_gap': config.get('closing_gap') or '0',
        'flag_values': config.get('flag_values') or [true, false],
        'max_delete_fraction': config.get('max_delete_fraction', 0.5),
        'min_rows': config.get('min_rows', 1),
        'columns': names,
    } -%}
    {%- if settings.surrogate_key == 'none' -%}
        {%- do names.update({'surrogate_key': none}) -%}
    {%- endif -%}
    {{- return(settings) -}}
{% endmacro %}


{% macro _as_list(value) %}
    {%- if value is none -%}
        {{- return([]) -}}
    {%- elif value is string -%}
        {{- return([value]) -}}
    {%- endif -%}
    {{- return(value | list) -}}
{% endmacro %}
