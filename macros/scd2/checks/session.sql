{# A dimension keeps points in time, which the type `timestamp` and its literals have to be, and
   takes every row that it reads for all there are. #}
{% macro wrong_session() %}
    {%- set settings = delta_scd2.session_settings() -%}
    {%- set mistakes = delta_scd2.silenced_errors(settings) -%}
    {%- do mistakes.append('the session takes `timestamp` for one without a time zone: set '
        ~ '`spark.sql.timestampType` to `TIMESTAMP_LTZ` in the profile, and write `timestamp_ntz` '
        ~ 'where a column is to be without')
        if settings.get('spark.sql.timestampType') == 'TIMESTAMP_NTZ' -%}
    {{- return(mistakes) -}}
{% endmacro %}
