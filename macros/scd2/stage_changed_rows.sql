{# Stages only the rows that one new extract changes. Returns none if they differ from the first
   read: the source was written in between, or the model returns different rows each time. #}
{% macro _stage_changed_rows(load) %}
    {%- set extract_times = load.row_counts.keys() | list -%}
    {%- set last = (load.applied_extracts + [load.target_state['high_water_mark'] or 0]) | max -%}
    {%- if extract_times | length != 1 or extract_times | first <= last -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set load = delta_scd2.stage_changed_keys(dict(load, pending_extracts=extract_times)) -%}
    {%- if not delta_scd2.row_counts_reconcile(load) -%}
        {{- return(none) -}}
    {%- elif load.changed_key_counts['changed'] == 0 -%}
        {{- return(load) -}}
    {%- endif -%}
    {%- do delta_scd2.stage_table(delta_scd2.staged_table('changed_rows'), delta_scd2.changed_rows_sql(load)) -%}
    {%- set load = delta_scd2.read_rows_from(load, delta_scd2.staged_table('changed_rows')) -%}
    {%- do delta_scd2.check_partition_values(load) -%}
    {%- set found = run_query(delta_scd2._verify_changed_rows_sql(load)).rows[0] -%}
    {%- set is_same = found['source_checksum'] == load.changed_key_counts['source_checksum']
        and not found['null_keys'] and not found['repeated'] -%}
    {{- return(load if is_same else none) -}}
{% endmacro %}


{# Aggregates of the staged rows, for comparison with the first read. #}
{% macro _verify_changed_rows_sql(load) %}
select
    {{ delta_scd2.sum_of_rows(delta_scd2.state_hash_sql(load)) }} as source_checksum,
    count_if({{ delta_scd2.any_is_null_sql(load.key_columns) }}) as null_keys,
    count(*) - count(distinct _scd2_key_hash) as repeated
from {{ load.staged_rows }}
{% endmacro %}
