{% macro undo_load(model, invocation=none, apply=false, v=none) %}
    {%- set node = delta_scd2.dimension_node(model, v) -%}
    {%- set events = delta_scd2.event_log_relation(
        delta_scd2.scd2_config(node), delta_scd2.table_of(node)
    ) -%}
    {#- The events first: versions without their events are what a load that failed leaves. -#}
    {%- set tables = ([events] if events is not none and load_relation(events) is not none else [])
        + [node.relation_name] -%}
    {%- set loads = delta_scd2._last_loads(tables) -%}
    {#- A load may have written only one of the two tables: events that changed no version, or
        migrated versions. -#}
    {%- set last = loads | sort(attribute='at') | last -%}
    {%- if invocation is not none and invocation != last.invocation -%}
        {%- do delta_scd2.raise_refusal(
            'the last load of ' ~ delta_scd2.node_address(node) ~ ' was made by invocation '
                ~ last.invocation ~ ', not by ' ~ invocation,
            'undo the later loads first'
        ) -%}
    {%- endif -%}
    {%- set statements = [] -%}
    {%- for load in loads if load.invocation == last.invocation -%}
        {%- do statements.append(delta_scd2._restore_sql(load)) -%}
    {%- endfor -%}
    {%- do print('The last load of ' ~ delta_scd2.node_address(node) ~ ' was made by invocation '
        ~ last.invocation ~ ' at ' ~ last.at.isoformat(' ', 'seconds') ~ ' UTC ('
        ~ last.operations | join(', ') ~ ').') -%}
    {%- do run_query('set ' ~ delta_scd2.commit_metadata_setting() ~ ' = '
        ~ tojson({'undone_invocation_id': last.invocation})) if apply -%}
    {%- for statement_sql in statements -%}
        {%- do print(('done: ' if apply else 'to do: ') ~ statement_sql) -%}
        {%- do run_query(statement_sql) if apply -%}
    {%- endfor -%}
    {%- if apply -%}
        {%- do run_query('reset ' ~ delta_scd2.commit_metadata_setting()) -%}
        {%- set log = delta_scd2.load_log_relation() -%}
        {%- set message = 'took back the load of invocation ' ~ last.invocation -%}
        {%- do delta_scd2.append_to_load_log(
            log, [delta_scd2.load_log_entry(node, 'undone', message)]
        ) if log is not none -%}
    {%- else -%}
        {%- do print('Nothing was written. To undo the load, add `apply: true`.') -%}
    {%- endif -%}
{% endmacro %}


{% macro _restore_sql(load) %}
    {%- if load.first == 0 -%}
        {%- do delta_scd2.raise_refusal(
            'the last load created ' ~ load.table,
            'drop the table: `drop table ' ~ load.table ~ '`'
        ) -%}
    {%- endif -%}
    {{- return('restore table ' ~ load.table ~ ' to version as of ' ~ (load.first - 1)) -}}
{% endmacro %}


{# The last load of each table, without a table where this operation has undone the last load of the
   other one already, before it was interrupted. #}
{% macro _last_loads(tables) %}
    {%- set loads, undone = [], [] -%}
    {%- for table in tables -%}
        {%- set newest = delta_scd2.newest_commit(table) -%}
        {%- set invocation = fromjson(newest['userMetadata'] or '', {})['undone_invocation_id'] -%}
        {%- do undone.append({'table': table, 'invocation': invocation, 'newest': newest}) if invocation -%}
        {%- do loads.append(delta_scd2._last_load(table)) if not invocation -%}
    {%- endfor -%}
    {%- for table in undone if table.invocation not in loads | map(attribute='invocation') | list -%}
        {%- do delta_scd2._check_commit_metadata(table.table, table.newest) -%}
    {%- endfor -%}
    {{- return(loads) -}}
{% endmacro %}


{# The newest commits of a table that carry the metadata of one run. #}
{% macro _last_load(table, limit=20) %}
    {%- set commits = run_query('describe history ' ~ table ~ ' limit ' ~ limit).rows -%}
    {%- set invocation = delta_scd2.invocation_of(commits[0]) -%}
    {%- do delta_scd2._check_commit_metadata(table, commits[0]) if not invocation -%}
    {%- set signed = [] -%}
    {%- for commit in commits if delta_scd2.invocation_of(commit) == invocation -%}
        {%- do signed.append(commit) -%}
    {%- endfor -%}
    {%- if signed | length == limit -%}
        {#- Older commits may belong to the same load. -#}
        {{- return(delta_scd2._last_load(table, limit * 10)) -}}
    {%- endif -%}
    {%- for commit in commits[:signed | length] if delta_scd2.invocation_of(commit) != invocation -%}
        {%- do delta_scd2._check_commit_metadata(table, commit) -%}
    {%- endfor -%}
    {{- return({
        'table': table,
        'invocation': invocation,
        'first': signed[-1]['version'] | int,
        'at': delta_scd2.committed_at(commits[0]).replace(tzinfo=none),
        'operations': signed | map(attribute='operation') | reverse | list,
    }) -}}
{% endmacro %}


{# Raises an error for a commit that the restore would also undo. #}
{% macro _check_commit_metadata(table, commit) %}
    {%- do delta_scd2.raise_refusal(
        'version ' ~ commit['version'] ~ ' of ' ~ table ~ ' is a ' ~ commit['operation']
            ~ ' that the last load did not make',
        'look at `describe history ' ~ table
            ~ '`, and choose a version for `restore table` by hand'
    ) -%}
{% endmacro %}
