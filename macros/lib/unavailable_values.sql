{# PostgreSQL does not log a large value that an update left as it was, and Debezium sends a
   placeholder for it. #}

{% macro unavailable_options(config) %}
    {{- return({
        'unavailable_columns': delta_scd2.as_list(config.get('unavailable_columns')) | unique | list,
        'unavailable_value': delta_scd2.option_or_default(
            config, 'unavailable_value', '__debezium_unavailable_value'
        ),
    }) -}}
{% endmacro %}


{% macro validate_unavailable_value(value) %}
    {{- return([] if value is string and value
        else [delta_scd2.wrong_value('unavailable_value', value, 'a text')]) -}}
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


{% macro any_is_unavailable_sql(values, placeholder) %}
    {%- set conditions = [] -%}
    {%- for value_sql in values -%}
        {%- do conditions.append(delta_scd2.is_unavailable_sql(value_sql, placeholder)) -%}
    {%- endfor -%}
    {{- return(conditions | join(' or ')) -}}
{% endmacro %}


{# A column, with the last value before it where it lacks its own. The window `so_far` has the rows
   of a key up to this one; those that are no source of values count as unknown. #}
{% macro last_known_value_sql(column, lacks, is_unknown) -%}
if(
    {{ lacks | indent(4) }},
    coalesce(
        last_value(
            if(
                {{ is_unknown | indent(16) }},
                null,
                struct({{ column }} as value)
            )
        ) ignore nulls over so_far,
        struct({{ column }} as value)
    ).value,
    {{ column }}
) as {{ column }}
{%- endmacro %}
