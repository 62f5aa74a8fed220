{% macro undo_load(model, invocation=none, apply=false, v=none) %}
    {%- set node = delta_scd2.built_dimension_node(model, v) -%}
    {%- set events = delta_scd2.event_log_relation(
        delta_scd2.scd2_config(node), delta_scd2.table_of(node)
    ) -%}
    {#- The events first: versions without their events are what a load that failed leaves. -#}
    {%- set tables = ([events] if events and load_relation(events) else []) + [node.relation_name] -%}
    {%- set newest = delta_scd2._newest_loads(tables) -%}
    {%- set last = delta_scd2._last_load(newest.loads, newest.undone) -%}
    {%- if invocation is not none and invocation != last.invocation -%}
        {%- do delta_scd2.raise_refusal(
            'the last load of ' ~ delta_scd2.node_address(node) ~ ' was made by invocation '
                ~ last.invocation ~ ', not by ' ~ invocation,
            delta_scd2._restore_by_hand(node.relation_name)
        ) -%}
    {%- endif -%}
    {%- do delta_scd2._check_events_of_merge(newest.loads, last) -%}
    {%- set restores, drops, operations = [], [], [] -%}
    {%- for load in newest.loads -%}
        {%- set undone = delta_scd2.commits_since(load.commits, last.invocation) -%}
        {%- do delta_scd2._check_commits_of_load(load.table, last.invocation, undone) -%}
        {%- do delta_scd2._check_made_by_one_run(load, undone) -%}
        {%- if undone and undone[-1]['version'] | int > 0 -%}
            {%- set before = undone[-1]['version'] | int - 1 -%}
            {%- do restores.append({
                'load': load, 'version': before, 'sql': delta_scd2.restore_table_sql(load.table, before)
            }) -%}
        {%- elif undone and load.table == node.relation_name -%}
            {%- do delta_scd2.raise_refusal(
                'the last load created ' ~ load.table,
                'drop the table: `drop table ' ~ load.table ~ '`'
            ) -%}
        {%- elif undone -%}
            {%- do drops.append({'load': load, 'sql': 'drop table ' ~ load.table}) -%}
        {%- endif -%}
        {%- do operations.extend(undone | map(attribute='operation')) -%}
    {%- endfor -%}
    {%- do print('The last load of ' ~ delta_scd2.node_address(node) ~ ' was made by invocation '
        ~ last.invocation ~ ' at ' ~ last.at.isoformat(' ', 'seconds') ~ ' UTC. Commits to undo: '
        ~ operations | join(', ') ~ '.') -%}
    {%- for step in restores + drops if apply -%}
        {%- do delta_scd2._check_later_commits(step.load) -%}
    {%- endfor -%}
    {#- A table that is gone cannot show that its load was undone, so it is dropped last. -#}
    {%- set done = [] -%}
    {%- for step in restores + drops -%}
        {%- do delta_scd2._undo(step, last.invocation, done) if apply -%}
        {%- do done.append(step.load.table) -%}
        {%- do print(('done: ' if apply else 'to do: ') ~ step.sql) -%}
    {%- endfor -%}
    {%- if apply -%}
        {%- set log = delta_scd2.load_log_relation() -%}
        {%- set message = 'took back the load of invocation ' ~ last.invocation -%}
        {%- do delta_scd2.append_to_load_log(
            log, [delta_scd2.load_log_entry(node, 'undone', message)]
        ) if log is not none -%}
    {%- else -%}
        {%- do print('Nothing was written. To undo the load, add `apply: true`.') -%}
    {%- endif -%}
{% endmacro %}


{# Restores or drops one table, in a commit that says which load it undoes, after those that are done. #}
{% macro _undo(step, invocation, done) %}
    {%- do delta_scd2._check_later_commits(step.load, done) -%}
    {%- do run_query(delta_scd2.set_commit_metadata_sql(tojson({'undone_invocation_id': invocation}))) -%}
    {%- if step.version is defined -%}
        {%- do delta_scd2.restore_table(step.load.table, step.version) -%}
    {%- else -%}
        {%- do run_query(step.sql) -%}
    {%- endif -%}
    {%- do run_query(delta_scd2.reset_commit_metadata_sql()) -%}
{% endmacro %}


{# The newest load of each table, and the tables where this operation undid a load since. #}
{% macro _newest_loads(tables) %}
    {%- set loads, undone = [], [] -%}
    {%- for table in tables -%}
        {%- set commits = delta_scd2.newest_commits(table, 20) -%}
        {%- set invocation = fromjson(commits[0]['userMetadata'] or '', {})['undone_invocation_id'] -%}
        {%- do undone.append({'table': table, 'invocation': invocation, 'commits': commits})
            if invocation -%}
        {%- do loads.append(delta_scd2._newest_load(table, commits)) if not invocation -%}
    {%- endfor -%}
    {{- return({'loads': loads, 'undone': undone}) -}}
{% endmacro %}


{# The load to undo: the one whose undoing was interrupted, or else the last one. A load may have
   written only one of the two tables: events that changed no version, or migrated versions. #}
{% macro _last_load(loads, undone) %}
    {%- set known = loads | selectattr('last') | map(attribute='last') | sort(attribute='at') | list -%}
    {%- for table in undone -%}
        {%- for load in loads -%}
            {%- for commit in load.commits if delta_scd2.invocation_of(commit) == table.invocation -%}
                {{- return(delta_scd2.load_of(commit)) -}}
            {%- endfor -%}
        {%- endfor -%}
        {#- Only a load since then, which did not write this table, can be undone. -#}
        {%- do delta_scd2._raise_foreign_commit(table.table, table.commits[0])
            if not known or known[-1].at <= delta_scd2.load_of(table.commits[0]).at -%}
    {%- endfor -%}
    {%- do delta_scd2._raise_foreign_commit(loads[-1].table, loads[-1].commits[0]) if not known -%}
    {{- return(known[-1]) -}}
{% endmacro %}


{# The commits of a table from the newest back to the first one of its newest load, if there is one.
   More are read where the load may have begun before them. #}
{% macro _newest_load(table, commits) %}
    {%- set loads = [] -%}
    {%- for commit in commits if delta_scd2.is_commit_of_load(commit) -%}
        {%- do loads.append(commit) -%}
    {%- endfor -%}
    {%- set last = delta_scd2.load_of(loads[0]) if loads else none -%}
    {%- set since = delta_scd2.commits_since(commits, last.invocation) if loads else commits -%}
    {%- if since[-1]['version'] == commits[-1]['version'] and commits[-1]['version'] | int > 0 -%}
        {%- set more = delta_scd2.newest_commits(table, commits | length * 10) -%}
        {%- if more | length > commits | length -%}
            {{- return(delta_scd2._newest_load(table, more)) -}}
        {%- endif -%}
    {%- endif -%}
    {{- return({
        'table': table, 'last': last, 'commits': since, 'before': commits[since | length:]
    }) -}}
{% endmacro %}
