{# What stops an operation from taking a load back. #}

{# Raises an error if others changed the rows of the table during or since the load. #}
{% macro _check_commits_of_load(table, invocation, commits) %}
    {%- for commit in commits if delta_scd2.invocation_of(commit) != invocation
        and (not delta_scd2.invocation_of(commit) or delta_scd2.is_commit_of_load(commit)) -%}
        {%- do delta_scd2._raise_foreign_commit(table, commit) -%}
    {%- endfor -%}
{% endmacro %}


{# Raises an error if an earlier run made the MERGE of the load and died, and the last one recorded it. #}
{% macro _check_made_by_one_run(load, commits) %}
    {%- set operations, earlier, recording = [], [], [] -%}
    {%- for commit in commits if delta_scd2.is_commit_of_load(commit) -%}
        {%- do operations.append(commit['operation']) -%}
    {%- endfor -%}
    {%- for commit in load.before -%}
        {%- if delta_scd2.is_commit_of_load(commit) or commit['operation'] == 'RESTORE' -%}
            {%- do earlier.append(commit) -%}
        {%- elif not earlier and commit['operation'] == 'SET TBLPROPERTIES' -%}
            {%- do recording.append(delta_scd2.invocation_of(commit)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if 'SET TBLPROPERTIES' in operations and earlier and earlier[0]['operation'] == 'MERGE'
        and delta_scd2.invocation_of(earlier[0]) not in recording -%}
        {%- do delta_scd2.raise_refusal(
            'version ' ~ earlier[0]['version'] ~ ' of ' ~ load.table
                ~ ' is a MERGE that its run did not record, and the last load did',
            delta_scd2._restore_by_hand(load.table)
        ) -%}
    {%- endif -%}
{% endmacro %}


{# Raises an error if an earlier run made the MERGE and died, and the last one wrote the events: these
   alone would be taken back. #}
{% macro _check_events_of_merge(loads, last) %}
    {%- set events, versions = loads | first, loads | last -%}
    {%- set merges = [] -%}
    {%- for commit in versions.commits if delta_scd2.is_commit_of_load(commit) -%}
        {%- do merges.append(commit) if loop.first and commit['operation'] == 'MERGE'
            and delta_scd2.invocation_of(commit) != last.invocation -%}
    {%- endfor -%}
    {#- Before the table of events was made, no run wrote events. -#}
    {%- if merges and events.before and not delta_scd2.commits_since(
        delta_scd2.newest_commits(events.table, 10000), delta_scd2.invocation_of(merges[0])
    ) -%}
        {%- do delta_scd2.raise_refusal(
            'version ' ~ merges[0]['version'] ~ ' of ' ~ versions.table
                ~ ' is a MERGE of a run that wrote no events, and the last load wrote them',
            delta_scd2._restore_by_hand(versions.table)
        ) -%}
    {%- endif -%}
{% endmacro %}


{# Refuses what others wrote since the history was read: before any restore, and before each. #}
{% macro _check_later_commits(load, done=[]) %}
    {%- set newest = delta_scd2.newest_commits(load.table, 1)[0] -%}
    {%- if newest['version'] == load.commits[0]['version'] -%}
        {{- return('') -}}
    {%- elif done -%}
        {%- do exceptions.raise_compiler_error(done | join(', ') ~ ' was restored, but '
            ~ delta_scd2._foreign_commit_text(load.table, newest) ~ '. Remedy: '
            ~ delta_scd2._restore_by_hand(load.table) ~ ', so that the two fit together.') -%}
    {%- endif -%}
    {%- do delta_scd2._raise_foreign_commit(load.table, newest) -%}
{% endmacro %}


{# Raises an error for a commit that the restore would also undo. #}
{% macro _raise_foreign_commit(table, commit) %}
    {%- do delta_scd2.raise_refusal(
        delta_scd2._foreign_commit_text(table, commit), delta_scd2._restore_by_hand(table)
    ) -%}
{% endmacro %}


{% macro _foreign_commit_text(table, commit) %}
    {{- return('version ' ~ commit['version'] ~ ' of ' ~ table ~ (
        ' took back a load already, and the load before it is not taken back'
        if 'undone_invocation_id' in (commit['userMetadata'] or '')
        else ' is a ' ~ commit['operation'] ~ ' that the last load did not make'
    )) -}}
{% endmacro %}


{% macro _restore_by_hand(table) %}
    {{- return('look at `describe history ' ~ table
        ~ '`, and choose a version for `restore table` by hand') -}}
{% endmacro %}
