{# A session returns the time in the time zone of this process, a server in the session time zone
   that the profile sets, which is UTC. #}
{% macro committed_at(row) %}
    {%- set zone = none if adapter.config.credentials.method == 'session' else modules.pytz.utc -%}
    {{- return(row['timestamp'].replace(tzinfo=zone).astimezone(modules.pytz.utc)) -}}
{% endmacro %}


{# The same in microseconds since the epoch. #}
{% macro committed_micros(row) %}
    {{- return(delta_scd2.ts_micros(
        delta_scd2.committed_at(row).replace(tzinfo=none).isoformat()
    )) -}}
{% endmacro %}


{# The mistake of a server whose session has another time zone. #}
{% macro misread_commit_times() %}
    {%- set zone = delta_scd2.zone_beside_utc() if adapter.config.credentials.method != 'session' -%}
    {{- return([
        'the session shows the times of commits in ' ~ zone
            ~ ', and they are read as UTC: set `spark.sql.session.timeZone` to `UTC` in the profile'
    ] if zone else []) -}}
{% endmacro %}


{% macro newest_version(table) %}
    {{- return(delta_scd2.newest_commits(table, 1)[0]['version']) -}}
{% endmacro %}


{# Up to `most` commits, the newest first. #}
{% macro newest_commits(table, most) %}
    {{- return(delta_scd2.run_to_its_end('describe history ' ~ table ~ ' limit ' ~ most).rows) -}}
{% endmacro %}


{% macro invocation_of(commit) %}
    {%- set signature = commit['userMetadata'] or '' -%}
    {{- return(fromjson(signature)['dbt_invocation_id']
        if 'dbt_invocation_id' in signature else none) -}}
{% endmacro %}
