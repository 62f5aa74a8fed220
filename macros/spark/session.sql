{# The explicitly set settings of the session, by name. #}
{% macro session_settings() %}
    {%- set made = {} -%}
    {%- for row in ([] if delta_scd2._appends_comment() else run_query('set')) -%}
        {%- do made.update({row['key']: row['value']}) -%}
    {%- endfor -%}
    {{- return(made) -}}
{% endmacro %}


{# Spark accepts no comment after a `set` that asks for all settings. #}
{% macro _appends_comment() %}
    {%- set comment = adapter.config.query_comment -%}
    {{- return(comment is not none and comment.append and comment.comment != '') -}}
{% endmacro %}


{# Reports settings that make Spark and Delta silently skip what they cannot read: a missing row
   would look deleted, and a missing change would be lost for good. Reports also where settings
   cannot be read, or let texts in statements mean something else. #}
{% macro unsafe_session_settings(settings=none) %}
    {%- set settings = delta_scd2.session_settings() if settings is none else settings -%}
    {%- set mistakes = delta_scd2._misread_quotes(settings) -%}
    {%- do mistakes.append('dbt appends its comment to statements, and Spark accepts none after `set`: '
        ~ 'take `append: true` out of `query-comment` in dbt_project.yml')
        if delta_scd2._appends_comment() -%}
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
