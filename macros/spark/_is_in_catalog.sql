{# Whether a table or view exists by now; what dbt knows is as old as its invocation. #}
{% macro _is_in_catalog(relation) %}
    {%- set like = _sql_string(relation.identifier) -%}
    {%- for row in run_query('show tables in ' ~ relation.include(identifier=false) ~ ' like ' ~ like)
        if row['tableName'] == relation.identifier | lower and not row['isTemporary'] -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{% endmacro %}
