{# The time of a row of `describe history`, which a session tells in the time zone of this process, and a server in the zone
   that the profile sets for the session. #}
{% macro _committed_at(row) %}
    {%- set zone = none if adapter.config.credentials.method == 'session' else modules.pytz.utc -%}
    {{- return(row['timestamp'].replace(tzinfo=zone).astimezone(modules.pytz.utc)) -}}
{% endmacro %}
