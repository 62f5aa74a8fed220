{# Stages only the rows that one new extract changes. Returns none if they differ from the first
   read: the source was written in between, or the model returns different rows each time. #}
{% macro _stage_changed_rows(load) %}
    {%- set extract_times = load.row_counts.keys() | list -%}
    {%- set last = (load.applied_extracts + [load.target_state['last_boundary'] or 0]) | max -%}
    {%- if extract_times | length != 1 or extract_times | first <= last -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set load = stage_changed_keys(dict(load, pending_extracts=extract_times)) -%}
    {%- if not row_counts_reconcile(load) -%}
        {{- return(none) -}}
    {%- elif load.changed_key_counts['changed'] == 0 -%}
        {{- return(load) -}}
    {%- endif -%}
    {%- do stage_table(staged_table('fetched'), changed_rows_sql(load)) -%}
    {%- set load = read_rows_from(load, staged_table('fetched')) -%}
    {%- do check_empty_partitions(load) -%}
    {%- set fetched = run_query(_verify_changed_rows_sql(load)).rows[0] -%}
    {%- set is_same = fetched['source_checksum'] == load.changed_key_counts['source_checksum']
        and not fetched['null_keys'] and not fetched['repeated'] -%}
    {{- return(load if is_same else none) -}}
{% endmacro %}


{# Aggregates of the staged rows, for comparison with the first read. #}
{% macro _verify_changed_rows_sql(load) %}
select
    {{ sum_of_rows(state_hash_sql(load)) }} as source_checksum,
    count_if({{ any_is_null_sql(load.key_columns) }}) as null_keys,
    count(*) - count(distinct _scd2_key_hash) as repeated
from {{ load.staged_rows }}
{% endmacro %}
