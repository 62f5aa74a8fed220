create or replace view gold.combined_histories


  as

        with
combined as (
    with
    side_1 as (
        select
            `id`,
            cast(`effective_from` as timestamp) as _scd2_valid_from,
            nullif(cast(`effective_to` as timestamp), timestamp '9999-12-31 00:00:00+00:00') + interval 1 second as _scd2_valid_to,
            `name`
        from gold.history
        where `is_deleted` = false
    ),

    side_2 as (
        select
            `id`,
            cast(`effective_from` as timestamp) as _scd2_valid_from,
            nullif(cast(`effective_to` as timestamp), timestamp '9999-12-31 00:00:00+00:00') as _scd2_valid_to,
            `name` as `other_name`
        from gold.several_extracts
    ),

    boundaries as (
        select `id`, _scd2_valid_from as _scd2_boundary from side_1
        union
        select `id`, _scd2_valid_to from side_1 where _scd2_valid_to is not null
        union
        select `id`, _scd2_valid_from as _scd2_boundary from side_2
        union
        select `id`, _scd2_valid_to from side_2 where _scd2_valid_to is not null
    ),

    spans as (
        select
            *,
            lead(_scd2_boundary) over (
                partition by `id` order by _scd2_boundary
            ) as _scd2_next_boundary
        from boundaries
    )

    select
        spans.`id`,
        spans._scd2_boundary as `effective_from`,
        coalesce(spans._scd2_next_boundary, timestamp '9999-12-31 00:00:00+00:00') as `effective_to`,
        side_1.`name`,
        side_2.`other_name`
    from spans
    inner join side_1
        on
            spans.`id` <=> side_1.`id`
            and side_1._scd2_valid_from <= spans._scd2_boundary
            and (side_1._scd2_valid_to > spans._scd2_boundary or side_1._scd2_valid_to is null)
    left join side_2
        on
            spans.`id` <=> side_2.`id`
            and side_2._scd2_valid_from <= spans._scd2_boundary
            and (side_2._scd2_valid_to > spans._scd2_boundary or side_2._scd2_valid_to is null)
),

compared as (
    select
        *,
        lag(`effective_to`) over history <=> `effective_from`
        and lag(`name`) over history <=> `name`
        and lag(`other_name`) over history <=> `other_name` as _scd2_continues
    from combined
    window history as (partition by `id` order by `effective_from`)
),

numbered as (
    select
        *,
        count_if(not _scd2_continues) over (
            partition by `id` order by `effective_from`
        ) as _scd2_version
    from compared
)

select
    `id`,
    min(`effective_from`) as `effective_from`,
    max_by(`effective_to`, `effective_from`) as `effective_to`,
    `name`,
    `other_name`
from numbered
group by `id`, `name`, `other_name`, _scd2_version;
