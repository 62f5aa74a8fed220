{# What each extract did to the keys of several dimensions, oldest first: one row per dimension and
   time at which it changed. Those before the newest ones are one row without a time. #}
{% macro history_sql(nodes) %}
    {%- set newest = 5 %}
with versions as (
    {%- for node in nodes %}
    {{- delta_scd2._versions_of_keys_sql(node) }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
),

{{ delta_scd2._key_events_sql() }},

extracts as (
    select
        dimension,
        event_time,
        count_if(kind = 'new') as new,
        count_if(kind = 'changed') as changed,
        count_if(kind = 'returned') as returned,
        count_if(kind = 'deleted') as deleted,
        sum(count_if(kind in ('new', 'returned')) - count_if(kind = 'deleted')) over (
            partition by dimension order by event_time
        ) as live,
        row_number() over (partition by dimension order by event_time desc) <= {{ newest }} as is_shown
    from events
    group by dimension, event_time
)

select
    dimension,
    unix_micros(if(is_shown, event_time, null)) as extract_time,
    count(*) as extracts,
    sum(new) as new,
    sum(changed) as changed,
    sum(returned) as returned,
    sum(deleted) as deleted,
    max_by(live, event_time) as live
from extracts
group by dimension, unix_micros(if(is_shown, event_time, null))
order by dimension, extract_time nulls first
{% endmacro %}


{# The versions of a dimension in the same words for all, without the row for facts without a key.
   A tombstone is the absence of its key. #}
{% macro _versions_of_keys_sql(node) %}
    {%- set settings = delta_scd2.scd2_config(node) -%}
    {%- set names = settings.columns %}
    select
        {{ delta_scd2.sql_string(delta_scd2.node_address(node)) }} as dimension,
        {{ delta_scd2.backticked(names.durable_key) }} as durable_key,
        {{ delta_scd2.backticked(names.effective_from) }} as began,
        if({{ delta_scd2.is_open_sql(settings) }}, null, {{ delta_scd2.end_sql(settings) }}) as ended,
        {% if settings.keeps_tombstones -%}
        {{ delta_scd2.is_deleted_sql(settings) }} as is_absence
        {%- else -%}
        false as is_absence
        {%- endif %}
    from {{ node.relation_name }}
    {%- if settings.unknown_member %}
    where {{ delta_scd2.is_not_unknown_member_sql({
        'settings': settings, 'key_columns': delta_scd2.columns_named(settings.unique_key)
    }) }}
    {%- endif %}
{%- endmacro %}


{# What became of each key, and when. #}
{% macro _key_events_sql() -%}
neighbours as (
    select
        *,
        lag(began) over key_history is null as is_first,
        lag(ended) over key_history <=> began as follows_previous,
        lag(is_absence) over key_history as follows_absence,
        lead(began) over key_history <=> ended as precedes_next,
        lead(is_absence) over key_history as precedes_absence
    from versions
    window key_history as (partition by dimension, durable_key order by began)
),

events as (
    select
        dimension,
        event.event_time,
        event.kind
    from neighbours
    lateral view explode(array(
        struct(
            began as event_time,
            case
                when is_first then 'new'
                when follows_absence or not follows_previous then 'returned'
                else 'changed'
            end as kind
        ),
        struct(
            ended as event_time,
            if(precedes_absence or not precedes_next, 'deleted', null) as kind
        )
    )) as event
    where not is_absence and event.event_time is not null and event.kind is not null
)
{%- endmacro %}
