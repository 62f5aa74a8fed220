{# The table of this model, or none. dbt-spark takes a schema for empty where a table vanishes while it lists them, and a dimension
   must not begin anew because another table went. #}
{% macro _existing_target() %}
    {%- set known = load_cached_relation(this) -%}
    {%- if known is none -%}
        {%- set like = _sql_string(this.identifier) -%}
        {%- for row in run_query('show tables in ' ~ this.include(identifier=false) ~ ' like ' ~ like)
            if row['tableName'] == this.identifier | lower and not row['isTemporary'] -%}
            {%- do _refuse(
                this ~ ' exists, but dbt did not find it when it listed the tables of its schema, as happens while another one is '
                    ~ 'dropped',
                'run this model again'
            ) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(known) -}}
{% endmacro %}
