{% macro strict_cast(expression, data_type) -%}
    {{ _strict_cast(expression, data_type, name=expression) }}
{%- endmacro %}


{% macro _strict_cast(expression, data_type, name) -%}
    {%- set complaint = sql_string('cannot cast ' ~ name ~ ' to ' ~ data_type ~ ': ') -%}
    coalesce(
        try_cast({{ expression }} as {{ data_type }}),
        if(isnull({{ expression }}), null, raise_error(concat({{ complaint }}, cast({{ expression }} as string))))
    )
{%- endmacro %}
