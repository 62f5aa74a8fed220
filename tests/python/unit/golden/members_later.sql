show tblproperties gold.members_later;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__members_later__source__ba0f0f5cfdcc as

select * from silver.people;

describe table extended gold__members_later__source__ba0f0f5cfdcc as json;

describe table gold__members_later__source__ba0f0f5cfdcc;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.members_later;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.members_later;

describe history gold.members_later limit 8;

show tblproperties gold.members_later;

select
    concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint,
    unix_micros(greatest(
        max(`effective_from`) filter (where `id` is not null),
        max(`effective_to`) filter (
            where
                `is_deleted` = true
                and not (`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00')
        )
    )) as high_water_mark,
    count_if(`is_current` = true and `is_deleted` = false and not coalesce(`is_inferred`, false) and `id` is not null) as live
from gold.members_later version as of 7;

/* keeps rows as gold__members_later__scd2_rows__d08a79bf0eb4 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        `is_inferred`,
        -- an inferred row is valid from the beginning of time
        if(coalesce(`is_inferred`, false), timestamp '1900-01-01 00:00:00+00:00', cast(`at` as timestamp)) as `effective_from`
    from gold__members_later__source__ba0f0f5cfdcc
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('bea75aeb', `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
from source
-- extracts applied before the last one need not be read again
where
    `effective_from` is null
    or coalesce(`is_inferred`, false)
    or `effective_from` not in (
        timestamp '2024-01-01 00:00:00+00:00'
    );

create or replace temporary view gold__members_later__hashed_rows__db4f5eff7d7c as
      select
    `id`,
    `name`,
    `city`,
    `is_inferred`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `members_later_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__members_later__scd2_rows__d08a79bf0eb4;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__members_later__scd2_rows__d08a79bf0eb4
where not coalesce(`is_inferred`, false)
group by `effective_from`
order by first_time nulls first;

select distinct concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold__members_later__hashed_rows__db4f5eff7d7c
where coalesce(`is_inferred`, false) and (`id` is null)
order by business_key
limit 10;

select count(*) - count(distinct `effective_from`, _scd2_key_hash) as repeated
from gold__members_later__scd2_rows__d08a79bf0eb4
where not coalesce(`is_inferred`, false);

select 1 from gold.members_later version as of 7 where not (`id` is not null) limit 1;

/* keeps rows as gold__members_later__scd2_changes__c138843cd17a */
with newest as (
    select
        `members_later_hk`,
        max_by(struct(`city`), `effective_from`) as last_row
    from gold__members_later__hashed_rows__db4f5eff7d7c
    where not coalesce(`is_inferred`, false)
    group by `members_later_hk`
),

overwritten as (
    select distinct target.`members_later_hk`
    from gold.members_later version as of 7 as target
    inner join newest
        on target.`members_later_hk` = newest.`members_later_hk`
    where not (struct(target.`city`) <=> newest.last_row)
),

stored as (
    select *
    from gold.members_later version as of 7
    where (`is_current` = true or `members_later_hk` in (select `members_later_hk` from gold__members_later__hashed_rows__db4f5eff7d7c where `is_inferred`) or `members_later_hk` in (select `members_later_hk` from overwritten))
        and `id` is not null
),

states as (
    select
        `members_later_hk`,
        `id`,
        `name`,
        `city`,
        `is_inferred`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        -- from an array, so that Spark can reuse the generated code of the last load
        if(`is_current` = true and `is_deleted` = false and not coalesce(`is_inferred`, false), array(timestamp '2024-01-03 00:00:00+00:00'), null)[0] as _scd2_expected_at,
        if(
            `is_deleted` = true,
            `effective_to`,
            null
        ) as _scd2_deleted_at,
        named_struct(
            'surrogate_key', `members_later_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`,
            'in_place_city', `city`,
            'in_place_is_inferred', `is_inferred`
        ) as _scd2_stored
    from stored
    union all
    select
        `members_later_hk`,
        `id`,
        `name`,
        `city`,
        `is_inferred`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        cast(null as timestamp) as _scd2_expected_at,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__members_later__hashed_rows__db4f5eff7d7c as extract
    where
        array_contains(
            array(
                timestamp '2024-01-03 00:00:00+00:00'
            ),
            extract.`effective_from`
        )
        or coalesce(`is_inferred`, false)
),

with_real_row as (
    select
        *,
        max(_scd2_stored is not null or (not coalesce(`is_inferred`, false) and not _scd2_is_gone)) over (partition by `members_later_hk`) as _scd2_has_real_row,
        first_value(if(not coalesce(`is_inferred`, false) and not _scd2_is_gone, struct(`id`, `name`, `city`, `is_inferred`, `hash_diff`), null)) ignore nulls over in_order as _scd2_real
    from states
    window in_order as (
        partition by `members_later_hk`
        order by _scd2_at
        rows between unbounded preceding and unbounded following
    )
),

completed as (
    select
        * except (`id`, `name`, `city`, `is_inferred`, `hash_diff`),
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`id`, `id`) as `id`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`name`, `name`) as `name`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`city`, `city`) as `city`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`is_inferred`, `is_inferred`) as `is_inferred`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`hash_diff`, `hash_diff`) as `hash_diff`
    from with_real_row
    where not (coalesce(`is_inferred`, false) and _scd2_has_real_row and _scd2_stored is null)
),

with_deletes as (
    select
        *,
        coalesce(_scd2_deleted_at, if(lead(_scd2_at) over key_history <=> _scd2_expected_at, null, _scd2_expected_at)) as _scd2_next_deletion_at
    from completed
    window key_history as (partition by `members_later_hk` order by _scd2_at)
),

events as (
    select
        with_deletes.* except (_scd2_at, _scd2_is_gone, _scd2_stored),
        _scd2_event_at as _scd2_at,
        with_deletes._scd2_is_gone or _scd2_event_at > with_deletes._scd2_at as _scd2_is_gone,
        if(_scd2_event_at > with_deletes._scd2_at, null, with_deletes._scd2_stored) as _scd2_stored
    from with_deletes
    lateral view explode(array_compact(array(with_deletes._scd2_at, with_deletes._scd2_next_deletion_at))) as _scd2_event_at
),

-- one event per key and time: the last one, which replaces a version that started then
ranked as (
    select
        * except (_scd2_stored),
        max(_scd2_stored) over same_time as _scd2_stored,
        count(_scd2_stored) over same_time as _scd2_copies,
        -- a stored version has the newest values; its event has those of its time
        coalesce(
            first_value(if(_scd2_stored is null, struct(`city`), null)) ignore nulls over same_event,
            struct(`city`)
        ) as _scd2_overwritten,
        row_number() over (
            partition by `members_later_hk`, _scd2_at
            order by
                _scd2_is_gone,
                _scd2_stored is null,
                -- of different inferred rows of a key, the same one in every run
                `hash_diff`
        ) as _scd2_rank
    from events
    window
        same_time as (partition by `members_later_hk`, _scd2_at),
        same_event as (
            partition by `members_later_hk`, _scd2_at, _scd2_is_gone
            rows between unbounded preceding and unbounded following
        )
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
    window key_history as (partition by `members_later_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        last_value(if(_scd2_is_gone, null, _scd2_overwritten)) ignore nulls over (
            partition by `members_later_hk`
            order by _scd2_at
            rows between unbounded preceding and unbounded following
        ) as _scd2_newest
    from change_points
    window key_history as (partition by `members_later_hk` order by _scd2_at)
),

versions as (
    select
        * except (`city`),
        if(_scd2_newest is null, `city`, _scd2_newest.`city`) as `city`,
        _scd2_at as `effective_from`,
        coalesce(_scd2_valid_to, timestamp '9999-12-31 00:00:00+00:00') as `effective_to`,
        if(_scd2_valid_to is null or (_scd2_ends_deleted and _scd2_returns_at is null), true, false) as `is_current`,
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
        coalesce(`members_later_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `members_later_sk`,
    `members_later_hk`,
    `id`,
    `name`,
    `city`,
    `is_inferred`,
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
    or not (_scd2_stored.`in_place_city` <=> `city`)
    or not (_scd2_stored.`in_place_is_inferred` <=> `is_inferred`);

select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if(_scd2_action <> 'remove' and `effective_to` <= `effective_from`) as too_short,
    count_if(_scd2_copies > 1) as repeated
from gold__members_later__scd2_changes__c138843cd17a
group by _scd2_deleted_at;

show tblproperties gold.members_later;

/* commits to gold.members_later */
merge into gold.members_later as target
using (
    select changes.*
    from gold__members_later__scd2_changes__c138843cd17a as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.members_later
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('members_later: gold.members_later changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`effective_from` = changes.`effective_from`
when matched and changes._scd2_action = 'remove' then delete
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `members_later_sk` = changes.`members_later_sk`,
    `members_later_hk` = changes.`members_later_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `is_inferred` = changes.`is_inferred`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `members_later_sk`,
    `members_later_hk`,
    `id`,
    `name`,
    `city`,
    `is_inferred`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
values (
    changes.`members_later_sk`,
    changes.`members_later_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`is_inferred`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

alter table gold.members_later set tblproperties (
    'scd2.unique_key' = '["id"]',
    'scd2.surrogate_key' = 'hash',
    'scd2.flag_values' = '[true, false]',
    'scd2.open_end' = '9999-12-31',
    'scd2.closing_gap' = '0',
    'scd2.hard_deletes' = 'soft_delete',
    'scd2.unknown_member' = 'true',
    'scd2.columns' = '["city", "id", "is_inferred", "name"]',
    'scd2.track_columns' = '["name"]',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view gold__members_later__hashed_rows__db4f5eff7d7c;

drop view if exists gold__members_later__scd2_rows__d08a79bf0eb4;

drop view if exists gold__members_later__scd2_changes__c138843cd17a;

drop view gold__members_later__source__ba0f0f5cfdcc;
