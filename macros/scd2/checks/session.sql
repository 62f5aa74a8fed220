{# A dimension stores points in time, so `timestamp` must have a time zone. It also relies on
   reading all rows, so Spark must not skip files that it cannot read. #}
{% macro validate_session() %}
    {%- set settings = delta_scd2.session_settings() -%}
    {%- set mistakes = delta_scd2.unsafe_session_settings(settings) -%}
    {%- do mistakes.append('the session takes `timestamp` for one without a time zone: set '
        ~ '`spark.sql.timestampType` to `TIMESTAMP_LTZ` in the profile, and write `timestamp_ntz` '
        ~ 'for a column that needs none')
        if settings.get('spark.sql.timestampType') | upper == 'TIMESTAMP_NTZ' -%}
    {%- set signature = delta_scd2.commit_metadata_setting() -%}
    {%- do mistakes.append('the profile sets `' ~ signature ~ '`, by which a run knows its commits: '
        ~ 'remove it there')
        if settings.get(signature) not in [none, delta_scd2.commit_metadata()] -%}
    {%- do mistakes.extend(delta_scd2.misread_commit_times()) -%}
    {{- return(mistakes) -}}
{% endmacro %}
