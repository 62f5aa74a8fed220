{# Whether the rows that one new extract changes were fetched, and are those that were seen: the source may have been written in
   between, or the model give other rows each time. #}
{% macro stage_changed_rows(dimension, row_counts) %}
    {%- set moments = row_counts.keys() | list -%}
    {%- if moments | length != 1 or moments | first <= (dimension.applied + [dimension.standing['last_boundary'] or 0]) | max -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- do dimension.update({'moments': moments}) -%}
    {%- do find_changed_keys(dimension) -%}
    {%- if not row_counts_reconcile(dimension, row_counts) -%}
        {{- return(false) -}}
    {%- elif dimension.glance['concerned'] == 0 -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- do stage(staged_table('fetched'), changed_rows_sql(dimension)) -%}
    {%- do read_rows_from(dimension, staged_table('fetched')) -%}
    {%- do check_empty_partitions(dimension) -%}
    {%- set fetched = run_query(_verify_changed_rows_sql(dimension)).rows[0] -%}
    {{- return(fetched['given'] == dimension.glance['given'] and not fetched['null_keys'] and not fetched['repeated']) -}}
{% endmacro %}


{# The rows that were fetched, as the glance saw them. #}
{% macro _verify_changed_rows_sql(dimension) %}
select
    {{ sum_of_rows(state_hash_sql(dimension)) }} as given,
    count_if({{ any_is_null_sql(dimension.key_columns) }}) as null_keys,
    count(*) - count(distinct _scd2_key_hash) as repeated
from {{ dimension.rows }}
{% endmacro %}
