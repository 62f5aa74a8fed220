show tblproperties gold.invalidated_increment;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__invalidated_increment__source__ed32bafdedaa as

select * from silver.people;

describe table extended gold__invalidated_increment__source__ed32bafdedaa as json;

describe table gold__invalidated_increment__source__ed32bafdedaa;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.invalidated_increment;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.invalidated_increment;

describe history gold.invalidated_increment limit 8;

show tblproperties gold.invalidated_increment;

select
    concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
from gold.invalidated_increment version as of 7;

/* keeps rows as gold__invalidated_increment__scd2_rows__08b3fdf64d22 */
select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    _scd2_is_gone,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `invalidated_increment_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
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
        from gold__invalidated_increment__source__ed32bafdedaa
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
);

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(_scd2_is_gone is null) as unknown_changes,
    count_if(false) as null_sequences
from gold__invalidated_increment__scd2_rows__08b3fdf64d22;

select
    cast(min(`id`) as string) as least_1,
    cast(max(`id`) as string) as greatest_1
from gold__invalidated_increment__scd2_rows__08b3fdf64d22;

/* keeps rows as gold__invalidated_increment__scd2_stored__6a855f44eb07 */
select *
from gold.invalidated_increment version as of 7
where
    `invalidated_increment_hk` in (select `invalidated_increment_hk` from gold__invalidated_increment__scd2_rows__08b3fdf64d22)
    and `id` between 1 and 4;

with claims as (
    select
        `invalidated_increment_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        `hash_diff` as _scd2_state,
        null as _scd2_overwritten,
        _scd2_is_gone,
        false as _scd2_is_stored
    from gold__invalidated_increment__scd2_rows__08b3fdf64d22
    union all
    select
        `invalidated_increment_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        -- not the hash that is stored, which may be one of columns that are gone
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as _scd2_state,
        -- what is stored there is the newest value of all, not the one of this time
        null as _scd2_overwritten,
        false as _scd2_is_gone,
        true as _scd2_is_stored
    from gold__invalidated_increment__scd2_stored__6a855f44eb07
)

select distinct min(_scd2_business_key) as business_key
from claims
group by `invalidated_increment_hk`, `effective_from`
having
    not min(_scd2_is_stored)
    and (
        count(distinct _scd2_state) filter (where not _scd2_is_gone) > 1
        or count(distinct _scd2_overwritten) filter (where not _scd2_is_gone) > 1
        -- a new deletion is an update in two parts beside a row of the same batch, and else says that a version never began
        or (
            max(_scd2_is_gone and not _scd2_is_stored)
            and max(_scd2_is_stored and not _scd2_is_gone)
            and not max(not _scd2_is_gone and not _scd2_is_stored)
            and not max(_scd2_is_gone and _scd2_is_stored)
        )
    )
order by business_key
limit 10;

/* keeps rows as gold__invalidated_increment__scd2_changes__f119c57dfaf0 */
with stored as (
    select *
    from gold__invalidated_increment__scd2_stored__6a855f44eb07
),

states as (
    select
        `invalidated_increment_hk`,
        `id`,
        `name`,
        `city`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        if(
            `is_deleted` = true,
            `effective_to`,
            null
        ) as _scd2_deleted_at,
        named_struct(
            'surrogate_key', `invalidated_increment_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from stored
    union all
    select
        `invalidated_increment_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        _scd2_is_gone,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__invalidated_increment__scd2_rows__08b3fdf64d22 as extract
),

events as (
    select
        states.* except (_scd2_at, _scd2_is_gone, _scd2_stored),
        _scd2_event_at as _scd2_at,
        states._scd2_is_gone or _scd2_event_at > states._scd2_at as _scd2_is_gone,
        if(_scd2_event_at > states._scd2_at, null, states._scd2_stored) as _scd2_stored
    from states
    lateral view explode(array_compact(array(states._scd2_at, states._scd2_deleted_at))) as _scd2_event_at
),

-- one event per key and time: the last one, which replaces a version that started then
ranked as (
    select
        * except (_scd2_stored),
        max(_scd2_stored) over same_time as _scd2_stored,
        count(_scd2_stored) over same_time as _scd2_copies,
        row_number() over (
            partition by `invalidated_increment_hk`, _scd2_at
            order by
                _scd2_is_gone,
                _scd2_stored is null
        ) as _scd2_rank
    from events
    window
        same_time as (partition by `invalidated_increment_hk`, _scd2_at)
),

change_points as (
    select
        *,
        lag(struct(_scd2_is_gone, `hash_diff`)) over key_history as _scd2_before,
        case
            when _scd2_before is null then not _scd2_is_gone
            when _scd2_is_gone or _scd2_before._scd2_is_gone then _scd2_is_gone <> _scd2_before._scd2_is_gone
            else not (`hash_diff` <=> _scd2_before.`hash_diff`)
        end as _scd2_starts_version
    from ranked
    where _scd2_rank = 1
    window key_history as (partition by `invalidated_increment_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted
    from change_points
    window key_history as (partition by `invalidated_increment_hk` order by _scd2_at)
),

versions as (
    select
        *,
        _scd2_at as `effective_from`,
        coalesce(_scd2_valid_to, timestamp '9999-12-31 00:00:00+00:00') as `effective_to`,
        if(_scd2_valid_to is null, true, false) as `is_current`,
        if(_scd2_ends_deleted, true, false) as `is_deleted`,
        case
            when _scd2_stored is null then 'open'
            when not _scd2_starts_version or _scd2_is_gone then 'remove'
            else 'change'
        end as _scd2_action
    from islands
    where
        _scd2_stored is not null
        or (_scd2_starts_version and not _scd2_is_gone)
)

select
    _scd2_action,
    coalesce(_scd2_stored.surrogate_key, sha2(concat_ws(
        '|',
        coalesce(`invalidated_increment_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `invalidated_increment_sk`,
    `invalidated_increment_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`,
    _scd2_valid_to is not null and not (_scd2_stored.effective_to <=> `effective_to`) and not _scd2_ends_deleted as _scd2_newly_closed,
    _scd2_valid_to is not null and not (_scd2_stored.effective_to <=> `effective_to`) and _scd2_ends_deleted as _scd2_newly_deleted,
    _scd2_valid_to,
    _scd2_copies
from versions
where
    _scd2_action <> 'change'
    or not (_scd2_stored.hash_diff <=> `hash_diff`)
    or not (_scd2_stored.effective_to <=> `effective_to`)
    or not (_scd2_stored.is_current <=> `is_current`)
    or not (_scd2_stored.is_deleted <=> `is_deleted`);

select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if(_scd2_action <> 'remove' and `effective_to` <= `effective_from`) as too_short,
    count_if(_scd2_copies > 1) as repeated
from gold__invalidated_increment__scd2_changes__f119c57dfaf0
group by _scd2_deleted_at;

/* commits to gold.invalidated_increment */
merge into gold.invalidated_increment as target
using (
    select changes.*
    from gold__invalidated_increment__scd2_changes__f119c57dfaf0 as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.invalidated_increment
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('invalidated_increment: gold.invalidated_increment changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`effective_from` = changes.`effective_from`
    and target.`id` between 1 and 4
when matched and changes._scd2_action = 'remove' then delete
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `invalidated_increment_sk` = changes.`invalidated_increment_sk`,
    `invalidated_increment_hk` = changes.`invalidated_increment_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `invalidated_increment_sk`,
    `invalidated_increment_hk`,
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
    changes.`invalidated_increment_sk`,
    changes.`invalidated_increment_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

drop view if exists gold__invalidated_increment__scd2_rows__08b3fdf64d22;

drop view if exists gold__invalidated_increment__scd2_stored__6a855f44eb07;

drop view if exists gold__invalidated_increment__scd2_changes__f119c57dfaf0;

drop view gold__invalidated_increment__source__ed32bafdedaa;
