{% macro _struct(columns, alias=none) %}
    {{- return('struct(' ~ delta_scd2.columns_in_line(columns, alias) ~ ')') -}}
{% endmacro %}


{% macro _descending(columns) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append(delta_scd2.backticked(column.name) ~ ' desc') -%}
    {%- endfor -%}
    {{- return(quoted) -}}
{% endmacro %}
