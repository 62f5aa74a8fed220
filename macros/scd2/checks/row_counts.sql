{# If the counts do not match, an extract or the table has a surplus row. #}
{% macro check_row_counts(load) %}
    {%- if not delta_scd2.row_counts_reconcile(load) -%}
        {%- do delta_scd2.check_duplicates(load) -%}
        {%- do delta_scd2._check_live_versions(load) -%}
    {%- endif -%}
{% endmacro %}


{# Whether full extracts contain each live key once, except deleted keys, and no other key
   except new ones. #}
{% macro row_counts_reconcile(load) %}
    {%- set counts = load.changed_key_counts -%}
    {%- set given_rows = [] -%}
    {%- for extract_time in load.pending_extracts -%}
        {%- do given_rows.append(load.row_counts[extract_time]) -%}
    {%- endfor -%}
    {%- set still_there = load.target_state['live'] * (load.pending_extracts | length)
        - counts['gone'] -%}
    {{- return(not counts['new_twice']
        and given_rows | sum - counts['new_rows'] == still_there) -}}
{% endmacro %}
