{# A statement that completes a committed load. It runs even if the run is being stopped:
   `dbt_spark_session` recognizes it by its comment. #}
{% macro running_to_its_end(sql) -%}
/* runs to its end */
{{ sql }}
{%- endmacro %}


{% macro run_to_its_end(sql) %}
    {{- return(run_query(delta_scd2.running_to_its_end(sql))) -}}
{% endmacro %}


{# A statement that commits to a table. If the run is stopped meanwhile, Spark may report an error
   after the commit. `dbt_spark_session` recognises the comment and then lets the load continue. #}
{% macro committing(table, sql) -%}
/* commits to {{ table }} */
{{ sql }}
{%- endmacro %}


{# Runs a SQL script and returns its result. Before Spark 4.2, scripting is off by default. #}
{% macro run_script(script) %}
    {%- do run_query('set `spark.sql.scripting.enabled` = `true`') -%}
    {{- return(run_query(script)) -}}
{% endmacro %}


{# `explain` returns the error of a query that cannot be planned instead of raising it: its condition
   and its text, or none. #}
{% macro planning_error(query) %}
    {%- set plan = run_query('explain ' ~ query).columns[0].values() | join('\n') -%}
    {%- set error = modules.re.search(
        '(?s)^Error occurred during query planning: *\n(?:\\[([A-Z_.]+)\\] )?(.*)', plan
    ) -%}
    {{- return({'condition': error.group(1), 'text': error.group(2)} if error else none) -}}
{% endmacro %}
