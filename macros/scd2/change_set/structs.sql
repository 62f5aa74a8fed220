{% macro _struct(columns, alias=none) %}
    {{- return('struct(' ~ column_list(columns, alias) | replace('\n   ', '') ~ ')') -}}
{% endmacro %}


{% macro _descending(columns) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append(backticked(column.name) ~ ' desc') -%}
    {%- endfor -%}
    {{- return(quoted) -}}
{% endmacro %}
