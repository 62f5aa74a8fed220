{# The answer of a SQL script. Spark before 4.2 has scripts switched off. #}
{% macro _run_script(script) %}
    {%- do run_query('set spark.sql.scripting.enabled = true') -%}
    {{- return(run_query(script)) -}}
{% endmacro %}
