{# The time of a row of `describe history`, which a session tells in the time zone of this
   process, and a server in the zone that the profile sets for the session. #}
{% macro committed_at(row) %}
    {%- set zone = none if adapter.config.credentials.method == 'session' else modules.pytz.utc -%}
    {{- return(row['timestamp'].replace(tzinfo=zone).astimezone(modules.pytz.utc)) -}}
{% endmacro %}


{% macro newest_version(table) %}
    {{- return(delta_scd2.newest_commit(table)['version']) -}}
{% endmacro %}


{% macro newest_commit(table) %}
    {{- return(delta_scd2.run_to_its_end('describe history ' ~ table ~ ' limit 1').rows[0]) -}}
{% endmacro %}


{% macro invocation_of(commit) %}
    {%- set signature = commit['userMetadata'] or '' -%}
    {{- return(fromjson(signature)['dbt_invocation_id'] if 'dbt_invocation_id' in signature else none) -}}
{% endmacro %}
