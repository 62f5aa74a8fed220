{#- `${` is split because Spark replaces `${name}` before it parses a statement, inside literals too. -#}
{% macro _sql_string(value) -%}
    '{{ value | replace('\\', '\\\\') | replace("'", "\\'") | replace('${', '$\\{') }}'
{%- endmacro %}
