{# Stores the invocation id in `userMetadata` of every commit of this run. All threads share the
   setting and set the same value. #}
{% macro set_commit_metadata() %}
    {%- do run_query('set ' ~ delta_scd2.commit_metadata_setting() ~ ' = '
        ~ delta_scd2.commit_metadata(invocation_id)) -%}
{% endmacro %}


{% macro commit_metadata_setting() %}
    {{- return('spark.databricks.delta.commitInfo.userMetadata') -}}
{% endmacro %}


{% macro commit_metadata(invocation) %}
    {{- return(tojson({'dbt_invocation_id': invocation})) -}}
{% endmacro %}
