{# Runs a statement without which a load that is committed would not be whole, also where the run
   was stopped meanwhile: `dbt_spark_session` knows it by its comment. #}
{% macro run_to_its_end(sql) %}
    {{- return(run_query('/* runs to its end */\n' ~ sql)) -}}
{% endmacro %}


{# The answer of a SQL script. Spark before 4.2 has scripts switched off. #}
{% macro run_script(script) %}
    {%- do run_query('set spark.sql.scripting.enabled = true') -%}
    {{- return(run_query(script)) -}}
{% endmacro %}
