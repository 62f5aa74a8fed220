{# One row per time at which the dimension changed: versions and live keys so far, and keys deleted
   at that time. #}
{% macro history_sql(relation, settings) %}
    {%- set names = settings.columns -%}
    {%- set effective_to = delta_scd2.backticked(names.effective_to) -%}
    {%- set is_deleted = delta_scd2.backticked(names.is_deleted) ~ ' = '
        ~ delta_scd2.flag_literal(settings, true) -%}
with events as (
    select
        {{ delta_scd2.backticked(names.effective_from) }} as moment,
        1 as opened,
        0 as ended,
        0 as deleted
    from {{ relation }}
    union all
    select
        {{ delta_scd2.end_sql(settings) }} as moment,
        0 as opened,
        1 as ended,
        if({{ is_deleted }}, 1, 0) as deleted
    from {{ relation }}
    where not ({{ effective_to }} <=> {{ delta_scd2.open_end_literal(settings) }})
)

select
    date_format(moment, 'yyyy-MM-dd HH:mm') as extract,
    sum(sum(opened)) over (order by moment) as versions,
    sum(sum(opened) - sum(ended)) over (order by moment) as live,
    sum(deleted) as deleted
from events
group by moment
order by moment
{% endmacro %}
