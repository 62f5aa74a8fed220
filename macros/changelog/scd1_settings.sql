{% macro scd1_settings(node) %}
    {%- set config = node.config -%}
    {{- return({
        'unique_key': _as_list(config.get('unique_key')),
        'change_type': _given(config, 'change_type', '_change_type'),
        'change_ordinal': _given(config, 'change_ordinal', '_change_ordinal'),
    }) -}}
{% endmacro %}
