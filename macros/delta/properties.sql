{% macro properties_clause(properties) -%}
tblproperties (
    {%- for name, value in properties.items() %}
    {{ delta_scd2.sql_string(name) }} = {{ delta_scd2.sql_string(value | string) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}
