{# The loads of a run, appended to the load log in one statement at its end. #}
{% macro log_loads(results) %}
    {%- if not execute or flags.WHICH not in ['run', 'build'] -%}
        {{- return('') -}}
    {%- endif -%}
    {#- The session may outlive this run, and what it commits then is not of this run. -#}
    {%- do run_to_its_end('reset ' ~ commit_metadata_setting()) -%}
    {%- for result in results if result.node.config.materialized in ['scd1', 'scd2'] and result.status == 'error' -%}
        {#- Jinja catches no error, so a load that fails within a statement cannot drop them
            itself. -#}
        {%- do drop_staged(table_of(result.node)) -%}
    {%- endfor -%}
    {%- if flags.EMPTY -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set loads = [] -%}
    {%- for result in results if result.node.config.materialized == 'scd2' and result.status != 'skipped' -%}
        {%- do loads.append(result) -%}
    {%- endfor -%}
    {%- set log = load_log_relation() -%}
    {%- do append_to_load_log(log, _rows_to_log(log, loads)) if loads and log is not none -%}
{% endmacro %}


{% macro append_to_load_log(log, rows) %}
    {%- if rows -%}
        {%- if load_relation(log) is none -%}
            {%- do adapter.create_schema(log) -%}
            {%- do run_to_its_end(_create_load_log_sql(log, load_log_sql())) -%}
        {%- endif -%}
        {%- do run_to_its_end(_append_to_load_log_sql(log, rows)) -%}
    {%- endif -%}
{% endmacro %}


{% macro _load_log_row(result) %}
    {%- set load = load_metrics(result.node) -%}
    {%- if load is none and result.status == 'error' -%}
        {#- What failed after its rows were committed has written, and is repeated by the next
            run. -#}
        {%- set load = _committed_by_this_run(result.node) -%}
    {%- endif -%}
    {{- return(dict(
        load_log_entry(result.node, result.status | string, result.message),
        seconds=result.execution_time,
        **(load if load is mapping else {})
    )) -}}
{% endmacro %}


{% macro load_log_entry(node, status, message) %}
    {{- return({
        'invocation_id': sql_string(invocation_id),
        'started_at': timestamp_literal(ts_micros(run_started_at.replace(tzinfo=none).isoformat())),
        'model': sql_string(node.name),
        'relation': sql_string(_logged_name(node)),
        'status': sql_string(status),
        'message': sql_string((message or '')[:2000]),
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


{# The table of the log; a project that disables its model keeps none. #}
{% macro load_log_relation() %}
    {%- set log = graph.nodes.values() | selectattr('config.materialized', 'equalto', 'load_log') | first -%}
    {{- return(table_of(log) if log else none) -}}
{% endmacro %}


{# A row for each load, and those that earlier runs of these dimensions left out because they
   were killed. #}
{% macro _rows_to_log(log, loads) %}
    {%- set logged = _logged(log, loads) if load_relation(log) is not none else [] -%}
    {%- set rows = [] -%}
    {%- for result in loads -%}
        {#- A run that is stopped while it writes the log comes here twice. -#}
        {%- do rows.append(_load_log_row(result)) if [invocation_id, _logged_name(result.node)] not in logged -%}
        {%- set before = invocation_before(result.node) -%}
        {%- if before and [before, _logged_name(result.node)] not in logged -%}
            {%- do rows.extend(_lost_loads(log, result.node)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(rows) -}}
{% endmacro %}


{# What the log holds of this run and of the runs that were the last to write these dimensions. #}
{% macro _logged(log, loads) %}
    {%- set invocations = [sql_string(invocation_id)] -%}
    {%- for result in loads if invocation_before(result.node) -%}
        {%- do invocations.append(sql_string(invocation_before(result.node))) -%}
    {%- endfor -%}
    {%- set logged = [] -%}
    {%- for row in run_to_its_end(
        'select invocation_id, relation from ' ~ log ~ ' where invocation_id in (' ~ invocations | unique | join(', ') ~ ')'
    ) -%}
        {%- do logged.append([row['invocation_id'], row['relation']]) -%}
    {%- endfor -%}
    {{- return(logged) -}}
{% endmacro %}


{% macro _logged_name(node) %}
    {{- return(node.relation_name | replace('`', '')) -}}
{% endmacro %}
