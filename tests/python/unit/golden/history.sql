with versions as (
    select
        'history' as dimension,
        `history_hk` as durable_key,
        `effective_from` as began,
        if(`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00', null, `effective_to` + interval 1 second) as ended,
        `is_deleted` = true as is_absence
    from gold.history
    where `id` is not null
),

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
),

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
        row_number() over (partition by dimension order by event_time desc) <= 5 as is_shown
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
order by dimension, extract_time nulls first;
