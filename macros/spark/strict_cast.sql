{% macro strict_cast(expression, data_type, name=none) -%}
    {%- set complaint = delta_scd2.sql_string('cannot cast ' ~ (name or expression) ~ ' to '
        ~ data_type ~ ': ') -%}
    coalesce(
        try_cast({{ expression }} as {{ data_type }}),
        if(isnull({{ expression }}), null, raise_error(concat({{ complaint }}, cast({{ expression }} as string))))
    )
{%- endmacro %}
