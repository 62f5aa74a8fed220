{# How many rows there are of a key, or of each row, as the inserts and deletes of a feed tell. #}

{# The number after each version of the range that brings or takes some; version -1 stands for
   the one from which it starts. #}
{% macro _row_counts_sql(feed, columns) -%}
    {%- set selected = delta_scd2.column_list(columns, indent=8) -%}
    {%- set row = delta_scd2._comparable(columns) | join(', ') -%}
with changes_of_range as (
    select
        {{ selected }},
        _commit_version as _change_version,
        _commit_timestamp as _change_time,
        {{ delta_scd2._change_sign() }} as _change_count
    from {{ delta_scd2._feed_sql(feed) }}
),

steps as (
    select *
    from changes_of_range
    union all
    -- the rows at the end without the changes are the rows at the start
    select
        {{ selected }},
        -1 as _change_version,
        null as _change_time,
        -_change_count as _change_count
    from changes_of_range
    union all
    select
        {{ selected }},
        -1 as _change_version,
        null as _change_time,
        1 as _change_count
    from {{ feed.name }} version as of {{ feed.last }} as latest
    left semi join changes_of_range
        on {{ delta_scd2.same_key_sql(feed.key_names, 'latest', 'changes_of_range') }}
),

step_counts as (
    select
        {{ delta_scd2._grouped(columns) | join(',\n        ') }},
        _change_version,
        max(_change_time) as _change_time,
        sum(_change_count) as _change_count
    from steps
    group by {{ row }}, _change_version
),

row_counts as (
    select
        *,
        sum(_change_count) over (partition by {{ row }} order by _change_version) as _change_rows
    from step_counts
)
{%- endmacro %}


{% macro _change_sign() -%}
if(_change_type in ('insert', 'update_postimage'), 1, -1)
{%- endmacro %}


{# Spark neither sorts nor compares maps; their canonical text it does. A collation would take
   different texts for one. #}
{% macro _comparable(columns, alias=none) %}
    {%- set values = [] -%}
    {%- for column in columns -%}
        {%- set value = (alias ~ '.' if alias else '') ~ delta_scd2.backticked(column.name) -%}
        {%- do values.append(delta_scd2.hash_text(column.data_type, value, column) | trim
            if delta_scd2._is_compared_as_text(column) else value) -%}
    {%- endfor -%}
    {{- return(values) -}}
{% endmacro %}


{% macro _is_compared_as_text(column) %}
    {%- set type = column.data_type | default('') | lower -%}
    {{- return('map<' in type or ' collate ' in type) -}}
{% endmacro %}


{# The columns of rows that are grouped by their comparable values. #}
{% macro _grouped(columns) %}
    {%- set values = [] -%}
    {%- for column in columns -%}
        {%- set name = delta_scd2.backticked(column.name) -%}
        {%- do values.append('any_value(' ~ name ~ ') as ' ~ name
            if delta_scd2._is_compared_as_text(column) else name) -%}
    {%- endfor -%}
    {{- return(values) -}}
{% endmacro %}
