{% macro restore_table_sql(table, version) %}
    {{- return('restore table ' ~ table ~ ' to version as of ' ~ version) -}}
{% endmacro %}


{# Restores a table to one of its versions. Delta 4.4 refuses versions that are older than the time
   for which a table keeps deleted files, although a restore finds out by itself if a file is gone. #}
{% macro restore_table(table, version) %}
    {%- set error = delta_scd2.planning_error('select * from ' ~ table ~ ' version as of ' ~ version) -%}
    {%- set is_old = error and error.condition == delta_scd2.beyond_file_retention() -%}
    {%- set setting = '`spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration`' -%}
    {%- do run_query('set ' ~ setting ~ ' = `false`') if is_old -%}
    {%- do run_query(delta_scd2.restore_table_sql(table, version)) -%}
    {%- do run_query('reset ' ~ setting) if is_old -%}
{% endmacro %}


{# The condition of Delta's error about a version that is older than the time for which a table keeps
   deleted files. #}
{% macro beyond_file_retention() %}
    {{- return('DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION') -}}
{% endmacro %}
