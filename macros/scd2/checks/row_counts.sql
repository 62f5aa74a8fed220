{# Where the counts do not add up, a row is too many, in an extract or in the table. #}
{% macro check_row_counts(load) %}
    {%- if not delta_scd2.row_counts_reconcile(load) -%}
        {%- do delta_scd2.check_duplicates(load) -%}
        {%- do delta_scd2._check_live_versions(load) -%}
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
    {%- set still_there = load.target_state['live'] * (load.pending_extracts | length)
        - counts['gone'] | int -%}
    {{- return(not counts['new_twice']
        and given_rows | sum - counts['new_rows'] | int == still_there) -}}
{% endmacro %}
