{# Whether a run made the commit, and it records more than new columns, comments, the position in a
   feed or the maintenance of a hook. A load whose MERGE fails leaves its new columns. #}
{% macro is_commit_of_load(commit) %}
    {%- set is_note = commit['operation'].startswith('CHANGE COLUMN')
        or commit['operation'] in ['ADD COLUMNS', 'OPTIMIZE', 'VACUUM START', 'VACUUM END']
        or (commit['operation'] == 'SET TBLPROPERTIES'
            and 'scd2.extracts' not in commit['operationParameters']) -%}
    {{- return(delta_scd2.invocation_of(commit) is not none and not is_note) -}}
{% endmacro %}


{# The run that made the commit, and when, in UTC. #}
{% macro load_of(commit) %}
    {{- return({
        'invocation': delta_scd2.invocation_of(commit),
        'at': delta_scd2.committed_at(commit).replace(tzinfo=none),
    }) -}}
{% endmacro %}


{# The commits from the newest one back to the first one of a run; none if it made none. #}
{% macro commits_since(commits, invocation) %}
    {%- set first = namespace(index=0) -%}
    {%- for commit in commits -%}
        {%- set is_of_run = delta_scd2.invocation_of(commit) == invocation -%}
        {%- set first.index = loop.index if is_of_run else first.index -%}
    {%- endfor -%}
    {{- return(commits[:first.index]) -}}
{% endmacro %}
