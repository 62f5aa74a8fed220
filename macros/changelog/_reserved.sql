{# The columns with a name that changelogs keep for themselves. #}
{% macro _reserved(columns) %}
    {%- set reserved = [] -%}
    {%- for column in columns if column.name.lower().startswith('_change_') -%}
        {%- do reserved.append(column) -%}
    {%- endfor -%}
    {{- return(reserved) -}}
{% endmacro %}
