{# Takes back the last load of a dimension. #}
{% macro undo_load(model, invocation=none, apply=false) %}
    {%- set node = _loaded_node(model) -%}
    {%- set tables = [node.relation_name] -%}
    {%- set relation = api.Relation.create(schema=node.schema, identifier=node.alias, type='table') -%}
    {%- set events = _events_relation(scd2_settings(node), relation) -%}
    {%- do tables.append(events | string) if events is not none and load_relation(events) is not none -%}

    {%- set last = _last_load(model, node.relation_name, invocation) -%}
    {%- set statements = [] -%}
    {%- for table in tables -%}
        {%- set load = _last_load(model, table, last.invocation) -%}
        {%- do statements.append('restore table ' ~ table ~ ' to version as of ' ~ (load.first - 1)) -%}
    {%- endfor -%}
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


{% macro _loaded_node(name) %}
    {%- set nodes = graph.nodes.values() | selectattr('config.materialized', 'equalto', 'scd2') | list -%}
    {%- set node = nodes | selectattr('name', 'equalto', name) | first -%}
    {%- if not node -%}
        {%- set near = _closest(name, nodes | map(attribute='name') | list) -%}
        {%- do _refuse('`' ~ name ~ '` is no model of the materialization `scd2`',
            'did you mean `' ~ near ~ '`?' if near else 'name one with `model`') -%}
    {%- endif -%}
    {{- return(node) -}}
{% endmacro %}


{# The newest commits of a table, all signed by one run. #}
{% macro _last_load(name, table, invocation) %}
    {%- set commits = run_query('describe history ' ~ table ~ ' limit 100').rows -%}
    {%- set signature = commits[0]['userMetadata'] or '' -%}
    {%- if 'dbt_invocation_id' not in signature -%}
        {%- do _refuse(
            'the newest commit of ' ~ table ~ ', version ' ~ commits[0]['version'] ~ ', is a ' ~ commits[0]['operation']
                ~ ' that no load of dbt made',
            'look at `describe history ' ~ table ~ '`, and choose a version for `restore table` by hand'
        ) -%}
    {%- endif -%}
    {%- set made_by = fromjson(signature)['dbt_invocation_id'] -%}
    {%- if invocation is not none and invocation != made_by -%}
        {%- do _refuse(
            'the last load of ' ~ table ~ ' was made by invocation ' ~ made_by ~ ', not by ' ~ invocation,
            'take later loads back first'
        ) -%}
    {%- endif -%}
    {%- set moment = _committed_at(commits[0]).replace(tzinfo=none).isoformat(' ', 'seconds') -%}
    {%- set load = {'invocation': made_by, 'first': none, 'at': moment, 'operations': []} -%}
    {%- for commit in commits if commit['userMetadata'] == signature -%}
        {%- do load.update({'first': commit['version'] | int}) -%}
        {%- do load.operations.insert(0, commit['operation']) -%}
    {%- endfor -%}
    {%- if load.first == 0 -%}
        {%- do _refuse('the last load of ' ~ name ~ ' created ' ~ table, 'drop the table: `drop table ' ~ table ~ '`') -%}
    {%- endif -%}
    {{- return(load) -}}
{% endmacro %}
