{# The explicitly set settings of the session, by name. #}
{% macro session_settings() %}
    {%- if (adapter.config.query_comment or {}).append -%}
        {%- do delta_scd2.raise_refusal(
            'dbt appends its comment to statements, and Spark reads none after `set`',
            'take `append: true` out of `query-comment` in dbt_project.yml'
        ) -%}
    {%- endif -%}
    {%- set made = {} -%}
    {%- for row in run_query('set') -%}
        {%- do made.update({row['key']: row['value']}) -%}
    {%- endfor -%}
    {{- return(made) -}}
{% endmacro %}


{# Reports settings that make Spark and Delta silently skip what they cannot read: a missing row
   would look deleted, and a missing change would be lost for good. #}
{% macro silenced_errors(settings) %}
    {%- set mistakes = [] -%}
    {%- for name in [
        'spark.sql.files.ignoreMissingFiles', 'spark.sql.files.ignoreCorruptFiles',
        'spark.files.ignoreMissingFiles', 'spark.files.ignoreCorruptFiles',
        'spark.sql.hive.verifyPartitionPath', 'spark.sql.files.ignoreInvalidPartitionPaths',
        'spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled',
    ] if settings.get(name, 'false') | lower == 'true' -%}
        {%- do mistakes.append('the session leaves out what it cannot read, without an error: set `'
            ~ name ~ '` to `false` in the profile or the cluster') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
