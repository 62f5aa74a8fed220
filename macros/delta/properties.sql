{% macro properties_clause(properties) -%}
tblproperties (
    {%- for name, value in properties.items() %}
    {{ delta_scd2.sql_string(name) }} = {{ delta_scd2.sql_string(value | string) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}


{# What the model configures of column mapping, for a table beside its own. #}
{% macro column_mapping_properties() %}
    {%- set properties = {} -%}
    {%- for name, value in (config.get('tblproperties') or {}).items()
        if name.startswith('delta.columnMapping.') -%}
        {%- do properties.update({name: value}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{% endmacro %}
