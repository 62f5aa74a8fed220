{# Takes back the last load of a dimension. #}
{% macro undo_load(model, invocation=none, apply=false) %}
    {%- set node = _dimension_node(model) -%}
    {%- set last = _last_load(node.relation_name, invocation) -%}
    {%- set statements = [_restore_sql(node.relation_name, last)] -%}
    {%- set events = _events_relation(scd2_settings(node), _table_of(node)) -%}
    {%- if events is not none and load_relation(events) is not none -%}
        {%- do statements.append(_restore_sql(events, _last_load(events, last.invocation))) -%}
    {%- endif -%}
    {%- do print('The last load of ' ~ model ~ ' was made by invocation ' ~ last.invocation ~ ' at ' ~ last.at ~ ' UTC ('
        ~ last.operations | join(', ') ~ ').') -%}
    {%- for statement_sql in statements -%}
        {%- do print(('done: ' if apply else 'to do: ') ~ statement_sql) -%}
        {%- do run_query(statement_sql) if apply -%}
    {%- endfor -%}
    {%- if apply -%}
        {%- do _append_to_load_log([_load_log_entry(node, 'undone', 'took back the load of invocation ' ~ last.invocation)]) -%}
    {%- else -%}
        {%- do print('Nothing was written. To take the load back, add `apply: true`.') -%}
    {%- endif -%}
{% endmacro %}


{% macro _restore_sql(table, load) %}
    {{- return('restore table ' ~ table ~ ' to version as of ' ~ (load.first - 1)) -}}
{% endmacro %}


{# The newest commits of a table, all signed by one run. #}
{% macro _last_load(table, invocation) %}
    {%- set commits = run_query('describe history ' ~ table ~ ' limit 100').rows -%}
    {%- set signature = commits[0]['userMetadata'] or '' -%}
    {%- do _refuse_unsigned(table, commits[0]) if 'dbt_invocation_id' not in signature -%}
    {%- set made_by = fromjson(signature)['dbt_invocation_id'] -%}
    {%- if invocation is not none and invocation != made_by -%}
        {%- do _refuse(
            'the last load of ' ~ table ~ ' was made by invocation ' ~ made_by ~ ', not by ' ~ invocation,
            'take later loads back first'
        ) -%}
    {%- endif -%}
    {%- set signed = commits | selectattr('userMetadata', 'equalto', signature) | list -%}
    {%- for commit in commits[:signed | length] if commit['userMetadata'] != signature -%}
        {%- do _refuse_unsigned(table, commit) -%}
    {%- endfor -%}
    {%- set first = signed[-1]['version'] | int -%}
    {%- if first == 0 -%}
        {%- do _refuse('the last load created ' ~ table, 'drop the table: `drop table ' ~ table ~ '`') -%}
    {%- endif -%}
    {{- return({
        'invocation': made_by,
        'first': first,
        'at': _committed_at(commits[0]).replace(tzinfo=none).isoformat(' ', 'seconds'),
        'operations': signed | map(attribute='operation') | reverse | list,
    }) -}}
{% endmacro %}


{# A commit that would be lost with the load. #}
{% macro _refuse_unsigned(table, commit) %}
    {%- do _refuse(
        'version ' ~ commit['version'] ~ ' of ' ~ table ~ ' is a ' ~ commit['operation'] ~ ' that the last load did not make',
        'look at `describe history ' ~ table ~ '`, and choose a version for `restore table` by hand'
    ) -%}
{% endmacro %}
