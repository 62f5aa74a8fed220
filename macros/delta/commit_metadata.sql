{# Stores the invocation id in `userMetadata` of every commit of this run. All threads share the
   setting and set the same value. #}
{% macro set_commit_metadata() %}
    {%- do run_query(delta_scd2.set_commit_metadata_sql(delta_scd2.commit_metadata())) -%}
{% endmacro %}


{# In quotes, as are all settings here: Spark would take a comment that dbt appends for a part of the
   value. #}
{% macro set_commit_metadata_sql(metadata) %}
    {{- return('set ' ~ delta_scd2.backticked(delta_scd2.commit_metadata_setting()) ~ ' = '
        ~ delta_scd2.backticked(metadata)) -}}
{% endmacro %}


{% macro reset_commit_metadata_sql() %}
    {{- return('reset ' ~ delta_scd2.backticked(delta_scd2.commit_metadata_setting())) -}}
{% endmacro %}


{% macro commit_metadata_setting() %}
    {{- return('spark.databricks.delta.commitInfo.userMetadata') -}}
{% endmacro %}


{% macro commit_metadata() %}
    {{- return(tojson({'dbt_invocation_id': invocation_id})) -}}
{% endmacro %}
