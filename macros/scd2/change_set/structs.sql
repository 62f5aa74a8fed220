{% macro _struct(columns, alias=none) %}
    {{- return('struct(' ~ delta_scd2.columns_in_line(columns, alias) ~ ')') -}}
{% endmacro %}
