{% macro properties_clause(properties) -%}
tblproperties (
    {%- for name, value in properties.items() %}
    {{ sql_string(name) }} = {{ sql_string(value | string) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}
