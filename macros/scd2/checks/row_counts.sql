{% macro check_row_counts(dimension, row_counts) %}
    {%- if not row_counts_reconcile(dimension, row_counts) -%}
        {%- do check_duplicates(dimension) -%}
        {%- do _refuse_repeated_versions(dimension, query_keys(_live_twice_sql(dimension))) -%}
    {%- endif -%}
{% endmacro %}


{# Whether complete extracts give each live key once, but for those that are gone, and no other but those that are new. #}
{% macro row_counts_reconcile(dimension, row_counts) %}
    {%- set glance = dimension.glance -%}
    {%- set given_rows = [] -%}
    {%- for moment in dimension.moments -%}
        {%- do given_rows.append(row_counts[moment]) -%}
    {%- endfor -%}
    {%- set still_there = dimension.standing['live'] * (dimension.moments | length) - glance['gone'] | int -%}
    {{- return(not glance['new_twice'] and given_rows | sum - glance['new_rows'] | int == still_there) -}}
{% endmacro %}


{# Up to ten keys with more than one live version. #}
{% macro _live_twice_sql(dimension) %}
select {{ key_text_sql(dimension) }} as _scd2_key
from {{ dimension.as_read }}
where {{ is_live_sql(dimension) }}
group by {{ column_list(dimension.key_columns) | replace('\n   ', '') }}
having count(*) > 1
order by _scd2_key
limit 10
{% endmacro %}
