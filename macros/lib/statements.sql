{# Runs a statement without which a load that is committed would not be whole, also where the run
   was stopped meanwhile: `dbt_spark_session` knows it by its comment. #}
{% macro run_to_its_end(sql) %}
    {{- return(run_query('/* runs to its end */\n' ~ sql)) -}}
{% endmacro %}


{# A statement that commits to a table. Where the run is stopped meanwhile, Spark may fail after
   the commit; then `dbt_spark_session`, which knows it by its comment, lets the load go on. #}
{% macro committing(table, sql) -%}
/* commits to {{ table }} */
{{ sql }}
{%- endmacro %}


{# The answer of a SQL script. Spark before 4.2 has scripts switched off. #}
{% macro run_script(script) %}
    {%- do run_query('set spark.sql.scripting.enabled = true') -%}
    {{- return(run_query(script)) -}}
{% endmacro %}
