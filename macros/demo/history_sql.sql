{# One row per dimension and time at which it changed: versions and live keys so far, and keys
   deleted at that time. #}
{% macro history_sql(nodes) %}
with events as (
    {%- for node in nodes %}
    {{- delta_scd2._beginnings_and_ends_sql(node) }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
)

select
    dimension,
    date_format(moment, 'yyyy-MM-dd HH:mm') as extract,
    sum(sum(opened)) over so_far as versions,
    sum(sum(opened) - sum(ended)) over so_far as live,
    sum(deleted) as deleted
from events
group by dimension, moment
window so_far as (partition by dimension order by moment)
order by dimension, moment
{% endmacro %}


{% macro _beginnings_and_ends_sql(node) %}
    {%- set settings = delta_scd2.scd2_config(node) -%}
    {%- set names = settings.columns -%}
    {%- set is_deleted = delta_scd2.backticked(names.is_deleted) ~ ' = '
        ~ delta_scd2.flag_literal(settings, true) %}
    select
        {{ delta_scd2.sql_string(node.name) }} as dimension,
        {{ delta_scd2.backticked(names.effective_from) }} as moment,
        1 as opened,
        0 as ended,
        0 as deleted
    from {{ node.relation_name }}
    union all
    select
        {{ delta_scd2.sql_string(node.name) }} as dimension,
        {{ delta_scd2.end_sql(settings) }} as moment,
        0 as opened,
        1 as ended,
        if({{ is_deleted }}, 1, 0) as deleted
    from {{ node.relation_name }}
    where
        not ({{ delta_scd2.backticked(names.effective_to) }}
            <=> {{ delta_scd2.open_end_literal(settings) }})
{%- endmacro %}
