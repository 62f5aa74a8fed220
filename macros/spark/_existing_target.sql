{# The table of this model, or none. dbt-spark takes a schema for empty where a table vanishes while it lists them, and a dimension
   must not begin anew because another table went. #}
{% macro _existing_target() %}
    {%- set known = load_cached_relation(this) -%}
    {%- if known is none and _is_in_catalog(this) -%}
        {%- do _refuse(
            this ~ ' exists, but dbt did not find it when it listed the tables of its schema, as happens while another one is '
                ~ 'dropped',
            'run this model again'
        ) -%}
    {%- endif -%}
    {{- return(known) -}}
{% endmacro %}
