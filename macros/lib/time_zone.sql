{# The time zone of the session, or none if it is UTC, in which no hour comes twice. #}
{% macro zone_beside_utc() %}
    {%- set zone = run_query('set `spark.sql.session.timeZone`').rows[0]['value'] -%}
    {{- return(none if zone in ['UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00'] else zone) -}}
{% endmacro %}
