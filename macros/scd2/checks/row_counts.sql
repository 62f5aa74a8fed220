{% macro check_row_counts(load) %}
    {%- if not delta_scd2.row_counts_reconcile(load) -%}
        {%- do delta_scd2.check_duplicates(load) -%}
        {%- do delta_scd2._raise_repeated_versions(load, delta_scd2.query_keys(delta_scd2._live_twice_sql(load))) -%}
    {%- endif -%}
{% endmacro %}


{# Whether complete extracts give each live key once, but for those that are gone, and no other
   but those that are new. #}
{% macro row_counts_reconcile(load) %}
    {%- set counts = load.changed_key_counts -%}
    {%- set given_rows = [] -%}
    {%- for extract_time in load.pending_extracts -%}
        {%- do given_rows.append(load.row_counts[extract_time]) -%}
    {%- endfor -%}
    {%- set still_there = load.target_state['live'] * (load.pending_extracts | length) - counts['gone'] | int -%}
    {{- return(not counts['new_twice'] and given_rows | sum - counts['new_rows'] | int == still_there) -}}
{% endmacro %}


{# Up to ten keys with more than one live version. #}
{% macro _live_twice_sql(load) %}
select {{ delta_scd2.key_text_sql(load) }} as _scd2_key
from {{ load.target_as_read }}
where {{ delta_scd2.is_live_sql(load) }}
group by {{ delta_scd2.column_list(load.key_columns) | replace('\n   ', '') }}
having count(*) > 1
order by _scd2_key
limit 10
{% endmacro %}
