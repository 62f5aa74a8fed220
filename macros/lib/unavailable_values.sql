{# PostgreSQL does not log a large value that an update left as it was, and Debezium sends a
   placeholder for it. #}

{% macro unavailable_value() %}
    {{- return('__debezium_unavailable_value') -}}
{% endmacro %}


{# Whether a value is the placeholder, in the forms that Debezium gives it: text or bytes, these
   in base64 or hexadecimal digits, and an array or a map of it. #}
{% macro is_unavailable_sql(value_sql, placeholder) -%}
    {%- set bytes = placeholder.encode('utf-8') -%}
cast({{ value_sql }} as string) in (
    {{ delta_scd2.sql_string(placeholder) }},
    base64({{ delta_scd2.sql_string(placeholder) }}),
    {{ delta_scd2.sql_string(bytes.hex()) }},
    {{ delta_scd2.sql_string('[' ~ placeholder ~ ']') }},
    {{ delta_scd2.sql_string(bytes | list | string) }},
    {{ delta_scd2.sql_string('{' ~ placeholder ~ ' -> ' ~ placeholder ~ '}') }}
)
{%- endmacro %}
