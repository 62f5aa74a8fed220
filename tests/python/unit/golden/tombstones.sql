show tblproperties gold.tombstones;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__tombstones__source__cd3123e8d421 as

select * from silver.people;

describe table extended gold__tombstones__source__cd3123e8d421 as json;

describe table gold__tombstones__source__cd3123e8d421;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.tombstones;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.tombstones;

describe history gold.tombstones limit 8;

show tblproperties gold.tombstones;

select
    concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
from gold.tombstones version as of 7;

/* keeps rows as gold__tombstones__scd2_rows__8fa5b15bf7ea */
select
    `id`,
    `name`,
    `city`,
    `_ordinal`,
    `effective_from`,
    _scd2_is_gone,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `tombstones_hk`,
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
            `_ordinal`,
            case
                when
                    lower(rtrim(cast(`_change_type` as string))) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                    then 'upsert'
                when lower(rtrim(cast(`_change_type` as string))) in ('delete', 'd') then 'delete'
                when lower(rtrim(cast(`_change_type` as string))) in ('update_before', 'update_preimage') then 'before'
            end as _scd2_kind,
            cast(`at` as timestamp) as `effective_from`
        from gold__tombstones__source__cd3123e8d421
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
                coalesce(max(if(_scd2_kind <=> 'before', null, struct(`_ordinal`))) over (partition by `id`) >= struct(`_ordinal`), false) as _scd2_is_followed,
                if(min(if(_scd2_kind = 'upsert', `effective_from`, null)) over (partition by `_ordinal`) = max(if(_scd2_kind = 'upsert', `effective_from`, null)) over (partition by `_ordinal`), max(if(_scd2_kind = 'upsert', `effective_from`, null)) over (partition by `_ordinal`), null) as _scd2_updated_at
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
    count_if(`_ordinal` is null) as null_sequences
from gold__tombstones__scd2_rows__8fa5b15bf7ea;

select
    cast(min(`id`) as string) as least_1,
    cast(max(`id`) as string) as greatest_1
from gold__tombstones__scd2_rows__8fa5b15bf7ea;

/* keeps rows as gold__tombstones__scd2_stored__bb3e28f1a10a */
select *
from gold.tombstones version as of 7
where
    `tombstones_hk` in (select `tombstones_hk` from gold__tombstones__scd2_rows__8fa5b15bf7ea)
    and `id` between 1 and 4;

with claims as (
    select
        `tombstones_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        `_ordinal`,
        `hash_diff` as _scd2_state,
        null as _scd2_overwritten,
        _scd2_is_gone,
        false as _scd2_is_stored
    from gold__tombstones__scd2_rows__8fa5b15bf7ea
    union all
    select
        `tombstones_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        `_ordinal`,
        -- not the hash that is stored, which may be one of columns that are gone
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as _scd2_state,
        -- what is stored there is the newest value of all, not the one of this time
        null as _scd2_overwritten,
        `is_deleted` = true as _scd2_is_gone,
        true as _scd2_is_stored
    from gold__tombstones__scd2_stored__bb3e28f1a10a
)

select distinct min(_scd2_business_key) as business_key
from claims
group by `tombstones_hk`, `effective_from`, `_ordinal`
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

/* keeps rows as gold__tombstones__scd2_changes__adbc1ffdc241 */
with stored as (
    select *
    from gold__tombstones__scd2_stored__bb3e28f1a10a
),

states as (
    select
        `tombstones_hk`,
        `id`,
        `name`,
        `city`,
        `_ordinal`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`,
        `effective_from` as _scd2_at,
        `is_deleted` = true as _scd2_is_gone,
        named_struct(
            'surrogate_key', `tombstones_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`,
            'in_place__ordinal', `_ordinal`
        ) as _scd2_stored
    from stored
    union all
    select
        `tombstones_hk`,
        `id`,
        `name`,
        `city`,
        `_ordinal`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        _scd2_is_gone,
        null as _scd2_stored
    from gold__tombstones__scd2_rows__8fa5b15bf7ea as extract
),

events as (
    select *
    from states
),

-- one event per key and time: the last one, which replaces a version that started then
ranked as (
    select
        * except (_scd2_stored),
        max(_scd2_stored) over same_time as _scd2_stored,
        count(_scd2_stored) over same_time as _scd2_copies,
        row_number() over (
            partition by `tombstones_hk`, _scd2_at
            order by
                `_ordinal` desc,
                _scd2_is_gone,
                _scd2_stored is null
        ) as _scd2_rank
    from events
    window
        same_time as (partition by `tombstones_hk`, _scd2_at)
),

change_points as (
    select
        *,
        lag(struct(_scd2_is_gone, `hash_diff`)) over key_history as _scd2_before,
        case
            when _scd2_before is null then not _scd2_is_gone or coalesce(_scd2_stored.is_deleted = true, false)
            when _scd2_is_gone or _scd2_before._scd2_is_gone then _scd2_is_gone <> _scd2_before._scd2_is_gone
            else not (`hash_diff` <=> _scd2_before.`hash_diff`)
        end as _scd2_starts_version
    from ranked
    where _scd2_rank = 1
    window key_history as (partition by `tombstones_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        lag(
            if(_scd2_starts_version, struct(`id`, `name`, `city`, `_ordinal`, `hash_diff`), null)
        ) ignore nulls over key_history as _scd2_last
    from change_points
    window key_history as (partition by `tombstones_hk` order by _scd2_at)
),

versions as (
    select
        * except (`id`, `name`, `city`, `hash_diff`),
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`id`, `id`) as `id`,
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`name`, `name`) as `name`,
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`city`, `city`) as `city`,
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`hash_diff`, `hash_diff`) as `hash_diff`,
        _scd2_at as `effective_from`,
        coalesce(_scd2_valid_to, timestamp '9999-12-31 00:00:00+00:00') as `effective_to`,
        if(_scd2_valid_to is null, true, false) as `is_current`,
        if(_scd2_is_gone, true, false) as `is_deleted`,
        case
            when _scd2_stored is null then 'open'
            when not _scd2_starts_version then 'remove'
            else 'change'
        end as _scd2_action
    from islands
    where
        _scd2_stored is not null
        or (_scd2_starts_version)
)

select
    _scd2_action,
    coalesce(_scd2_stored.surrogate_key, sha2(concat_ws(
        '|',
        coalesce(`tombstones_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `tombstones_sk`,
    `tombstones_hk`,
    `id`,
    `name`,
    `city`,
    `_ordinal`,
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
    or not (_scd2_stored.is_deleted <=> `is_deleted`)
    or not (_scd2_stored.`in_place__ordinal` <=> `_ordinal`);

select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if(_scd2_action <> 'remove' and `effective_to` <= `effective_from`) as too_short,
    count_if(_scd2_copies > 1) as repeated
from gold__tombstones__scd2_changes__adbc1ffdc241
group by _scd2_deleted_at;

/* commits to gold.tombstones */
merge into gold.tombstones as target
using (
    select changes.*
    from gold__tombstones__scd2_changes__adbc1ffdc241 as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.tombstones
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('tombstones: gold.tombstones changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
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
    `tombstones_sk` = changes.`tombstones_sk`,
    `tombstones_hk` = changes.`tombstones_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `_ordinal` = changes.`_ordinal`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `tombstones_sk`,
    `tombstones_hk`,
    `id`,
    `name`,
    `city`,
    `_ordinal`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
values (
    changes.`tombstones_sk`,
    changes.`tombstones_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`_ordinal`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

drop view if exists gold__tombstones__scd2_rows__8fa5b15bf7ea;

drop view if exists gold__tombstones__scd2_stored__bb3e28f1a10a;

drop view if exists gold__tombstones__scd2_changes__adbc1ffdc241;

drop view gold__tombstones__source__cd3123e8d421;
