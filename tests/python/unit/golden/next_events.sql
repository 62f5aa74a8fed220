show tblproperties gold.next_events;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__next_events__source__ea527216ba03 as

select * from silver.people;

describe table extended gold__next_events__source__ea527216ba03 as json;

describe table gold__next_events__source__ea527216ba03;

set;

show tables in gold like 'next_events__events';

show tblproperties gold.next_events__events;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.next_events;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.next_events;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.next_events__events;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

select count(*) as events from gold.next_events__events;

/* keeps rows as gold__next_events__scd2_compared__765b3cffd69b */
with current_versions as (
    select
        `id`,
        `hash_diff` as _scd2_stored_hash,
        `effective_from` as _scd2_stored_from,
        `effective_to` as _scd2_stored_to,
        `is_current` = true and `is_deleted` = false as _scd2_is_live,
        `is_deleted` = true as _scd2_is_deleted,
        hash(_metadata.file_path) as _scd2_file_hash,
        xxhash64(`id`, `id` is null) as _scd2_key_hash,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
    from gold.next_events
    where `is_current` = true
),

source_rows as (
    select
        *,
        lag(`effective_from`) over key_history as _scd2_time_before,
        lag(not _scd2_is_gone) over key_history as _scd2_live_before,
        lag(_scd2_state_hash) over key_history as _scd2_state_before
    from (
        with source as (
            select
                `id`,
                `name`,
                `city`,
                case
                    when
                        lower(rtrim(cast(`_change_type` as string))) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                        then 'upsert'
                    when lower(rtrim(cast(`_change_type` as string))) in ('delete', 'd') then 'delete'
                    when lower(rtrim(cast(`_change_type` as string))) in ('update_before', 'update_preimage') then 'before'
                end as _scd2_kind,
                cast(`at` as timestamp) as `effective_from`
            from gold__next_events__source__ea527216ba03
        ),

        kinds as (
            select
                * except (_scd2_kind, `effective_from`, _scd2_is_followed, _scd2_updated_at),
                case
                    when not (_scd2_kind <=> 'before') or _scd2_is_followed then _scd2_kind
                    when _scd2_updated_at is not null then 'delete'
                end as _scd2_kind,
                if(
                    _scd2_kind <=> 'before',
                    coalesce(_scd2_updated_at, `effective_from`),
                    `effective_from`
                ) as `effective_from`
            from (
                select
                    *,
                    coalesce(max(if(_scd2_kind <=> 'before', null, `effective_from`)) over (partition by `id`) >= `effective_from`, false) as _scd2_is_followed,
                    cast(null as timestamp) as _scd2_updated_at
                from source
            )
        )

        select
            *,
            _scd2_kind = 'delete' as _scd2_is_gone,
            xxhash64(`id`, `id` is null) as _scd2_key_hash,
            xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
        from kinds
        where
            _scd2_kind is null
            or _scd2_kind <> 'before'
    )
    window key_history as (
        partition by `id` order by `effective_from`
    )
),

compared as (
    select
        coalesce(source_rows.`id`, current_versions.`id`) as `id`,
        source_rows.`name`,
        source_rows.`city`,
        source_rows.`effective_from`,
        source_rows._scd2_is_gone,
        source_rows._scd2_key_hash is not null as _scd2_is_source_row,
        coalesce(source_rows._scd2_key_hash, current_versions._scd2_key_hash) as _scd2_key_hash,
        source_rows._scd2_state_hash,
        current_versions._scd2_stored_hash,
        current_versions._scd2_stored_from,
        current_versions._scd2_stored_to,
        current_versions._scd2_is_live,
        current_versions._scd2_is_deleted,
        -- once for each version
        if(source_rows._scd2_time_before is null, current_versions._scd2_file_hash, null) as _scd2_file_hash,
        source_rows._scd2_time_before,
        coalesce(source_rows._scd2_live_before, current_versions._scd2_is_live) as _scd2_was_live,
        case
            when source_rows._scd2_key_hash is null then 'unchanged'
            when source_rows._scd2_is_gone and _scd2_was_live then 'deleted'
            when source_rows._scd2_is_gone then 'unchanged'
            when _scd2_was_live is null then 'new'
            when not _scd2_was_live then 'returned'
            when
                source_rows._scd2_state_hash <=> coalesce(
                    source_rows._scd2_state_before, current_versions._scd2_state_hash
                )
                then 'unchanged'
            else 'changed'
        end as _scd2_effect
    from source_rows
    full join current_versions
        on source_rows.`id` <=> current_versions.`id`
)

select
    *,
    if(
        _scd2_is_source_row,
        sha2(concat_ws(
            '|',
            coalesce(cast(`id` as string), '\\N')
        ), 256),
        null
    ) as `next_events_hk`,
    if(
        _scd2_is_source_row,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256),
        null
    ) as `hash_diff`
from compared;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count_if(_scd2_is_source_row) as row_count,
    count_if(_scd2_is_source_row and (`effective_from` is null or `id` is null or _scd2_is_gone is null)) as wrong_rows,
    count_if(
        _scd2_is_source_row
        and `effective_from`
            <= greatest(_scd2_time_before, _scd2_stored_from, if(_scd2_is_deleted, _scd2_stored_to, null), _scd2_last_event)
    ) as late_rows,
    count_if(_scd2_effect in ('new', 'changed', 'returned') and _scd2_stored_from is null) as new,
    count(*) - count(distinct struct(_scd2_key_hash, `effective_from`)) as repeated,
    count_if(_scd2_effect in ('new', 'changed', 'returned')) as opened,
    count_if(_scd2_effect = 'changed') as changed,
    count(distinct _scd2_key_hash) filter (where _scd2_effect = 'returned' and _scd2_is_deleted) as returned,
    count_if(_scd2_effect = 'deleted') as deleted,
    count_if(_scd2_effect = 'changed' and _scd2_time_before is null and `hash_diff` <=> _scd2_stored_hash) as same_hash,
    unix_micros(max(_scd2_stored_from) filter (where _scd2_effect in ('changed', 'deleted'))) as last_ending,
    concat(count(_scd2_file_hash), ' rows, files ', coalesce(sum(_scd2_file_hash), 0)) as fingerprint,
    unix_micros(greatest(
        max(_scd2_stored_from),
        max(_scd2_stored_to) filter (
            where _scd2_is_deleted and not (_scd2_stored_to <=> timestamp '9999-12-31 00:00:00+00:00')
        )
    )) as high_water_mark,
    count_if(_scd2_is_live) as live,
    count_if(not _scd2_is_live and not _scd2_is_deleted) as unknown_members
from gold__next_events__scd2_compared__765b3cffd69b
left join (
    select
        `next_events_hk` as _scd2_event_key,
        max(`effective_from`) as _scd2_last_event
    from gold.next_events__events
    where `next_events_hk` in (select `next_events_hk` from gold__next_events__scd2_compared__765b3cffd69b)
    group by `next_events_hk`
) as last_events
    on `next_events_hk` = _scd2_event_key;

/* commits to gold.next_events */
merge into gold.next_events as target
using (
    select
        compared._scd2_action,
        if(
            compared._scd2_action = 'open',
            sha2(concat_ws(
                '|',
                coalesce(`next_events_hk`, '\\N'),
                coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
            ), 256),
            null
        ) as `next_events_sk`,
        compared.`next_events_hk`,
        compared.`id`,
        compared.`name`,
        compared.`city`,
        compared.`hash_diff`,
        compared.`effective_from`,
        case
            when compared._scd2_action = 'open'
                then coalesce(
                    compared._scd2_next_at,
                    timestamp '9999-12-31 00:00:00+00:00'
                )
            -- a version that ended with a deletion keeps its end
            when compared._scd2_effect = 'returned' then compared._scd2_stored_to
            else compared.`effective_from`
        end as `effective_to`,
        if(compared._scd2_last_opened <=> if(compared._scd2_action = 'open', compared.`effective_from`, null), true, false) as `is_current`,
        if(if(compared._scd2_action = 'open', compared._scd2_next_effect, compared._scd2_effect) in ('deleted', 'returned'), true, false) as `is_deleted`
    from (
        select
            changing.*,
            _scd2_action
        from (
            select
                *,
                row_number() over following = 1 as _scd2_is_first,
                lead(`effective_from`) over following as _scd2_next_at,
                lead(_scd2_effect) over following as _scd2_next_effect,
                max(if(_scd2_effect in ('new', 'changed', 'returned'), `effective_from`, null))
                    over (partition by `id`) as _scd2_last_opened
            from gold__next_events__scd2_compared__765b3cffd69b
            where _scd2_effect <> 'unchanged'
            window following as (partition by `id` order by `effective_from`)
        ) as changing
        lateral view explode(array_compact(array(
            if(_scd2_is_first and _scd2_stored_from is not null, 'end', null),
            if(_scd2_effect in ('new', 'changed', 'returned'), 'open', null)
        ))) as _scd2_action
    ) as compared
    -- a semi join lets Spark still see that few rows change
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.next_events
            where `is_current` = true
        ) as now
        where if(
            fingerprint = '3 rows, files 1'
            and (select count(*) from gold.next_events__events) = 5,
            true,
            raise_error('next_events: gold.next_events changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`is_current` = true
    and changes._scd2_action = 'end'
when matched then update set
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `next_events_sk`,
    `next_events_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
values (
    changes.`next_events_sk`,
    changes.`next_events_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

insert into gold.next_events__events (
    `next_events_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
)
select
    `next_events_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
from gold__next_events__scd2_compared__765b3cffd69b
where
    _scd2_is_source_row
    and if(
        (select count(*) from gold.next_events__events) = 5,
        true,
        raise_error('next_events: gold.next_events__events changed while this run was reading it. The events of this run are not remembered, and its versions may be incomplete. Remedy: wait for the other run to end, and run this model again.')
    );

drop view if exists gold__next_events__scd2_compared__765b3cffd69b;

drop view gold__next_events__source__ea527216ba03;
