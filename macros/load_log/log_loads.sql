{# The loads of a run, appended to the load log in one statement at its end. #}
{% macro log_loads(results) %}
    {%- if not execute or flags.WHICH not in ['run', 'build'] -%}
        {{- return('') -}}
    {%- endif -%}
    {#- The session may outlive this run, and what it commits then is not of this run. -#}
    {%- do delta_scd2.run_to_its_end(delta_scd2.reset_commit_metadata_sql()) -%}
    {%- for result in results
        if result.node.config.materialized in ['scd1', 'scd2'] and result.status == 'error' -%}
        {#- Jinja catches no error, so a load that fails within a statement cannot drop them
            itself. -#}
        {%- do delta_scd2.drop_staged(delta_scd2.table_of(result.node)) -%}
    {%- endfor -%}
    {%- if flags.EMPTY -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set loads = [] -%}
    {%- for result in results
        if result.node.config.materialized == 'scd2' and result.status != 'skipped'
            and not (result.message or '').startswith('SKIP ') -%}
        {%- do loads.append(result) -%}
    {%- endfor -%}
    {%- set log = delta_scd2.load_log_relation() -%}
    {%- if loads and log is not none -%}
        {%- set logged = delta_scd2._logged(log, loads) if load_relation(log) is not none else [] -%}
        {%- do delta_scd2.append_to_load_log(log, delta_scd2._rows_to_log(log, loads, logged)) -%}
        {%- do delta_scd2._complete_found_rows(log, loads, logged) -%}
    {%- endif -%}
{% endmacro %}


{% macro append_to_load_log(log, rows) %}
    {%- if rows -%}
        {%- set existing = load_relation(log) -%}
        {%- if existing is not none -%}
            {%- do delta_scd2._add_missing_columns(existing) -%}
        {%- else -%}
            {%- do adapter.create_schema(log) -%}
            {%- do delta_scd2.run_to_its_end(delta_scd2._create_load_log_sql(
                log, delta_scd2.load_log_sql(), delta_scd2.load_log_node().config
            )) -%}
        {%- endif -%}
        {%- do delta_scd2.run_to_its_end(delta_scd2._append_to_load_log_sql(log, rows)) -%}
    {%- endif -%}
{% endmacro %}


{% macro _load_log_row(result) %}
    {%- set load = delta_scd2.load_metrics(result.node) -%}
    {%- if load is none and result.status == 'error' -%}
        {#- What failed after its rows were committed has written, and is repeated by the next
            run. -#}
        {%- set load = delta_scd2._committed_by_this_run(result.node) -%}
    {%- endif -%}
    {{- return(dict(
        delta_scd2.load_log_entry(result.node, result.status | string, result.message),
        seconds=result.execution_time,
        **(load if load is mapping else {})
    )) -}}
{% endmacro %}


{% macro load_log_entry(node, status, message) %}
    {{- return({
        'invocation_id': delta_scd2.sql_string(invocation_id),
        'started_at': delta_scd2.timestamp_literal(delta_scd2.ts_micros(
            run_started_at.replace(tzinfo=none).isoformat()
        )),
        'model': delta_scd2.sql_string(node.name),
        'relation': delta_scd2.sql_string(delta_scd2._logged_name(node)),
        'status': delta_scd2.sql_string(status),
        'message': delta_scd2.sql_string(modules.re.sub(
            '^[A-Z][a-z]+ Error in model [^\\n]+\\n\\s*', '', message or ''
        )[:2000]),
    }) -}}
{% endmacro %}


{% macro _append_to_load_log_sql(relation, rows) %}
insert into {{ relation }} (
    {%- for name in delta_scd2._load_log_columns() %}
    {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
)
values
    {%- for row in rows %}
    (
        {%- for name, data_type in delta_scd2._load_log_columns().items() %}
        cast({{ row.get(name, 'null') }} as {{ data_type }}){{ ',' if not loop.last }}
        {%- endfor %}
    ){{ ',' if not loop.last }}
    {%- endfor %}
{% endmacro %}


{# A run that overlapped this one may have found its commits in the history first. #}
{% macro _complete_found_rows(log, loads, logged) %}
    {%- set properties = delta_scd2.load_log_node().config.get('tblproperties') or {} -%}
    {%- for result in loads
        if [invocation_id, delta_scd2._logged_name(result.node), 'found'] in logged
            and properties.get('delta.appendOnly') | string | lower != 'true' -%}
        {%- do delta_scd2._add_missing_columns(load_relation(log)) -%}
        {%- do delta_scd2.run_to_its_end(delta_scd2._complete_found_row_sql(
            log, delta_scd2._load_log_row(result)
        )) -%}
    {%- endfor -%}
{% endmacro %}


{# Gives the row of a load that was found in the history what its own run knows. #}
{% macro _complete_found_row_sql(log, row) %}
update {{ log }} set
    {%- for name, data_type in delta_scd2._load_log_columns().items() %}
    {{ name }} = cast({{ row.get(name, 'null') }} as {{ data_type }}){{ ',' if not loop.last }}
    {%- endfor %}
where
    invocation_id = {{ row['invocation_id'] }}
    and relation = {{ row['relation'] }}
{% endmacro %}


{# The table of the log, or none. #}
{% macro load_log_relation() %}
    {%- set log = delta_scd2.load_log_node() -%}
    {{- return(delta_scd2.table_of(log) if log else none) -}}
{% endmacro %}


{# A row for each load, and those that earlier runs of these dimensions left out because they
   were killed. #}
{% macro _rows_to_log(log, loads, logged) %}
    {%- set rows = [] -%}
    {%- for result in loads -%}
        {%- set own = [invocation_id, delta_scd2._logged_name(result.node)] -%}
        {#- A run that is stopped while it writes the log comes here twice. -#}
        {%- do rows.append(delta_scd2._load_log_row(result)) if own not in logged -%}
        {%- set before = delta_scd2.invocation_before(result.node) -%}
        {%- if before and [before, delta_scd2._logged_name(result.node)] not in logged -%}
            {%- do rows.extend(delta_scd2._lost_loads(log, result.node)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(rows) -}}
{% endmacro %}


{# What the log holds of this run and of the runs that were the last to write these dimensions, as
   lists of invocation and dimension; a row that was found in the history has one more, with `found`. #}
{% macro _logged(log, loads) %}
    {%- set invocations = [delta_scd2.sql_string(invocation_id)] -%}
    {%- for result in loads if delta_scd2.invocation_before(result.node) -%}
        {%- do invocations.append(delta_scd2.sql_string(delta_scd2.invocation_before(result.node))) -%}
    {%- endfor -%}
    {%- set logged = [] -%}
    {%- for row in delta_scd2.run_to_its_end('select invocation_id, relation, message from ' ~ log
        ~ ' where invocation_id in (' ~ invocations | unique | join(', ') ~ ')') -%}
        {%- do logged.append([row['invocation_id'], row['relation']]) -%}
        {%- do logged.append([row['invocation_id'], row['relation'], 'found'])
            if row['message'] == delta_scd2._message_of_found_load() -%}
    {%- endfor -%}
    {{- return(logged) -}}
{% endmacro %}


{% macro _logged_name(node) %}
    {{- return(node.relation_name | replace('`', '')) -}}
{% endmacro %}
