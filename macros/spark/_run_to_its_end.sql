{# Runs a statement without which a load that is committed would not be whole, also where the run was stopped meanwhile:
   `dbt_spark_session` knows it by its comment. #}
{% macro _run_to_its_end(sql) %}
    {{- return(run_query('/* runs to its end */\n' ~ sql)) -}}
{% endmacro %}
