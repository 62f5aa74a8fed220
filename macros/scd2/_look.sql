{# Most rows of a complete extract are as they were. Where it costs little to read the model twice, they are not staged: the
   hashes tell which keys are concerned, and only their rows are fetched. #}

{# Whether that may do, and is worth its two statements more: every row is accounted for, the keys are many, and the model does
   nothing but read tables, row by row. #}
{% macro _is_worth_a_look(dimension) %}
    {%- set settings = dimension.settings -%}
    {{- return(dimension.exists and _touches_current_only(dimension) and settings.hard_deletes != 'ignore'
        and settings.merge_plan == 'staged' and dimension.standing['live'] >= var('scd2_read_twice_from', 1000000) | int(1000000)
        and _is_mere_scan(dimension.given)) -}}
{% endmacro %}


{# Whether the rows that one new extract changes were fetched, and are those that were seen: the source may have been written in
   between, or the model give other rows each time. #}
{% macro _are_fetched(dimension, row_counts) %}
    {%- set moments = row_counts.keys() | list -%}
    {%- if moments | length != 1 or moments | first <= (dimension.applied + [dimension.standing['last_boundary'] or 0]) | max -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- do dimension.update({'moments': moments}) -%}
    {%- do _look(dimension) -%}
    {%- if not _is_even(dimension, row_counts) -%}
        {{- return(false) -}}
    {%- elif dimension.glance['concerned'] == 0 -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- do _stage(_staged('fetched'), scd2_concerned_rows_sql(dimension)) -%}
    {%- do _read(dimension, _staged('fetched')) -%}
    {%- do _refuse_empty_partitions(dimension) -%}
    {%- set fetched = run_query(_fetched_sql(dimension)).rows[0] -%}
    {{- return(fetched['given'] == dimension.glance['given'] and not fetched['null_keys'] and not fetched['repeated']) -}}
{% endmacro %}


{% macro _look(dimension) %}
    {%- do _stage(dimension.concerned, scd2_concerned_sql(dimension)) -%}
    {%- do dimension.update({'glance': run_query(_glance_sql(dimension)).rows[0]}) -%}
{% endmacro %}
