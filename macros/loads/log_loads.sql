{# The loads of a run, appended to the load log in one statement at its end. #}
{% macro log_loads(results) %}
    {%- if not execute or flags.WHICH not in ['run', 'build'] -%}
        {{- return('') -}}
    {%- endif -%}
    {#- The session may outlive this run, and what it commits then is not of this run. -#}
    {%- do run_query('reset ' ~ _signature_setting()) -%}
    {%- if flags.EMPTY -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set rows = [] -%}
    {%- for result in results if result.node.config.materialized == 'scd2' and result.status != 'skipped' -%}
        {%- do rows.append(_load_log_row(result)) -%}
    {%- endfor -%}
    {%- do _append_to_load_log(rows) if rows -%}
{% endmacro %}


{# A project that disables the model of the log keeps none. #}
{% macro _append_to_load_log(rows) %}
    {%- set log = graph.nodes.values() | selectattr('config.materialized', 'equalto', 'load_log') | first -%}
    {%- if log -%}
        {%- set relation = _table_of(log) -%}
        {%- if load_relation(relation) is none -%}
            {%- do adapter.create_schema(relation) -%}
            {%- do run_query(_create_load_log_sql(relation, load_log_sql())) -%}
        {%- endif -%}
        {%- do run_query(_append_to_load_log_sql(relation, rows)) -%}
    {%- endif -%}
{% endmacro %}


{% macro _load_log_row(result) %}
    {{- return(dict(
        _load_log_entry(result.node, result.status | string, result.message),
        seconds=result.execution_time,
        **graph.nodes[result.node.unique_id].get('scd2_load', {})
    )) -}}
{% endmacro %}


{% macro _load_log_entry(node, status, message) %}
    {{- return({
        'invocation_id': _sql_string(invocation_id),
        'started_at': _timestamp_literal(_micros(run_started_at.replace(tzinfo=none).isoformat())),
        'model': _sql_string(node.name),
        'relation': _sql_string(node.relation_name | replace('`', '')),
        'status': _sql_string(status),
        'message': _sql_string((message or '')[:2000]),
    }) -}}
{% endmacro %}


{% macro _append_to_load_log_sql(relation, rows) %}
insert into {{ relation }} (
    {%- for name in _load_log_columns() %}
    {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
)
values
    {%- for row in rows %}
    (
        {%- for name, data_type in _load_log_columns().items() %}
        cast({{ row.get(name, 'null') }} as {{ data_type }}){{ ',' if not loop.last }}
        {%- endfor %}
    ){{ ',' if not loop.last }}
    {%- endfor %}
{% endmacro %}
