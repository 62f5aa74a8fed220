{# Lets each commit of this run carry its invocation id, in `userMetadata` of the table's history. All threads set the same. #}
{% macro _sign_commits() %}
    {%- do run_query('set ' ~ _signature_setting() ~ ' = ' ~ _signature(invocation_id)) -%}
{% endmacro %}


{% macro _signature_setting() %}
    {{- return('spark.databricks.delta.commitInfo.userMetadata') -}}
{% endmacro %}


{% macro _signature(invocation) %}
    {{- return(tojson({'dbt_invocation_id': invocation})) -}}
{% endmacro %}
