{% macro scd1_config(node) %}
    {%- set config = node.config -%}
    {{- return({
        'unique_key': as_list(config.get('unique_key')),
        'change_type': option_or_default(config, 'change_type', '_change_type'),
        'change_ordinal': option_or_default(config, 'change_ordinal', '_change_ordinal'),
        'unavailable_columns': as_list(config.get('unavailable_columns')),
        'unavailable_value': option_or_default(config, 'unavailable_value', '__debezium_unavailable_value'),
    }) -}}
{% endmacro %}


{% macro validate_copy_config(node, settings, copy) %}
    {%- set mistakes = validate_written_options(node, [
        'unique_key', 'change_type', 'change_ordinal', 'unavailable_columns', 'unavailable_value',
    ]) -%}
    {%- if node.config.get('file_format') != 'delta' -%}
        {%- do mistakes.append(wrong_value('file_format', node.config.get('file_format'), 'delta')) -%}
    {%- endif -%}
    {%- do mistakes.extend(validate_changelog(copy)) -%}
    {%- do mistakes.extend(validate_event_time(node, copy.kept_columns | map(attribute='name') | list)) -%}
    {{- return(mistakes) -}}
{% endmacro %}
