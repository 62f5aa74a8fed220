show tblproperties gold.state_hash_in_three_clauses;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__state_hash_in_three_clauses__source__6b2e78b3df33 as

select * from silver.people;

describe table extended gold__state_hash_in_three_clauses__source__6b2e78b3df33 as json;

describe table gold__state_hash_in_three_clauses__source__6b2e78b3df33;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.state_hash_in_three_clauses;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.state_hash_in_three_clauses;

describe history gold.state_hash_in_three_clauses limit 8;

show tblproperties gold.state_hash_in_three_clauses;

select
    concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint,
    unix_micros(greatest(
        max(`effective_from`),
        max(`effective_to`) filter (
            where
                `is_deleted` = true
                and not (`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00')
        )
    )) as high_water_mark,
    count_if(`is_current` = true and `is_deleted` = false) as live
from gold.state_hash_in_three_clauses version as of 7;

/* keeps rows as gold__state_hash_in_three_clauses__scd2_rows__07fbf3f5d767 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__state_hash_in_three_clauses__source__6b2e78b3df33
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
from source
-- extracts applied before the last one need not be read again
where
    `effective_from` is null
    or `effective_from` not in (
        timestamp '2024-01-01 00:00:00+00:00'
    );

create or replace temporary view gold__state_hash_in_three_clauses__hashed_rows__c811c02ff594 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `state_hash_in_three_clauses_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__state_hash_in_three_clauses__scd2_rows__07fbf3f5d767;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__state_hash_in_three_clauses__scd2_rows__07fbf3f5d767
group by `effective_from`
order by first_time nulls first;

/* keeps rows as gold__state_hash_in_three_clauses__scd2_changed_keys__b79851204305 */
with live as (
    select
        xxhash64(`id`, `id` is null) as key_hash,
        `state` as state_hash
    from gold.state_hash_in_three_clauses version as of 7
    where `is_current` = true and `is_deleted` = false
),

source_rows as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash
    from gold__state_hash_in_three_clauses__scd2_rows__07fbf3f5d767
    where `effective_from` = timestamp '2024-01-03 00:00:00+00:00'
)

select
    coalesce(source_rows.key_hash, live.key_hash) as key_hash,
    live.key_hash is null as is_new,
    source_rows.key_hash is null as is_gone,
    source_rows.state_hash
from source_rows
full join live
    on
        source_rows.key_hash = live.key_hash
where
    not (source_rows.state_hash <=> live.state_hash)
    -- of a key that is gone, both may be null
    or source_rows.key_hash is null;

select
    count(*) as changed,
    count_if(is_new) as new_rows,
    count_if(is_gone) as gone,
    count_if(is_new) - count(distinct key_hash) filter (where is_new) as new_twice,
    concat(count(state_hash), ' rows, hashes ', coalesce(sum(cast(state_hash as decimal(20, 0))), 0)) as source_checksum
from gold__state_hash_in_three_clauses__scd2_changed_keys__b79851204305;

/* keeps rows as gold__state_hash_in_three_clauses__scd2_changes__681a4b9604e0 */
with stored as (
    select *
    from gold.state_hash_in_three_clauses version as of 7
    where `is_current` = true
),

versions_of_changed_keys as (
    select /*+ broadcast(changed_keys) */
        stored.* except (`state_hash_in_three_clauses_hk`),
        sha2(concat_ws(
            '|',
            coalesce(cast(`stored`.`id` as string), '\\N')
        ), 256) as `state_hash_in_three_clauses_hk`
    from stored
    left semi join gold__state_hash_in_three_clauses__scd2_changed_keys__b79851204305 as changed_keys
        on xxhash64(stored.`id`, stored.`id` is null) = changed_keys.key_hash
),

rows_of_changed_keys as (
    select
        `id`,
        `name`,
        `city`,
        `effective_from`,
        sha2(concat_ws(
            '|',
            coalesce(cast(`id` as string), '\\N')
        ), 256) as `state_hash_in_three_clauses_hk`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`
    from (
        select /*+ broadcast(changed_keys) */ source_rows.*
        from gold__state_hash_in_three_clauses__scd2_rows__07fbf3f5d767 as source_rows
        left semi join gold__state_hash_in_three_clauses__scd2_changed_keys__b79851204305 as changed_keys
            on source_rows._scd2_key_hash = changed_keys.key_hash
    )
),

states as (
    select
        `state_hash_in_three_clauses_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        `is_deleted` = true as _scd2_is_gone,
        -- from an array, so that Spark can reuse the generated code of the last load
        if(`is_current` = true and `is_deleted` = false, array(timestamp '2024-01-03 00:00:00+00:00'), null)[0] as _scd2_expected_at,
        named_struct(
            'surrogate_key', `state_hash_in_three_clauses_sk`,
            'hash_diff', `hash_diff`,
            'state_hash', `state`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from versions_of_changed_keys
    union all
    select
        `state_hash_in_three_clauses_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        cast(null as timestamp) as _scd2_expected_at,
        null as _scd2_stored
    from rows_of_changed_keys as extract
    where
        array_contains(
            array(
                timestamp '2024-01-03 00:00:00+00:00'
            ),
            extract.`effective_from`
        )
),

with_deletes as (
    select
        *,
        if(lead(_scd2_at) over key_history <=> _scd2_expected_at, null, _scd2_expected_at) as _scd2_next_deletion_at
    from states
    window key_history as (partition by `state_hash_in_three_clauses_hk` order by _scd2_at)
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

change_points as (
    select
        *,
        lag(struct(_scd2_is_gone, `hash_diff`)) over key_history as _scd2_before,
        case
            when _scd2_before is null then not _scd2_is_gone or coalesce(_scd2_stored.is_deleted = true, false)
            when _scd2_is_gone or _scd2_before._scd2_is_gone then _scd2_is_gone <> _scd2_before._scd2_is_gone
            else not (`hash_diff` <=> _scd2_before.`hash_diff`)
        end as _scd2_starts_version
    from events
    window key_history as (partition by `state_hash_in_three_clauses_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        count(_scd2_stored) over (partition by `state_hash_in_three_clauses_hk`) as _scd2_copies,
        lag(
            if(_scd2_starts_version, struct(`id`, `name`, `city`, `hash_diff`), null)
        ) ignore nulls over key_history as _scd2_last
    from change_points
    window key_history as (partition by `state_hash_in_three_clauses_hk` order by _scd2_at)
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
        coalesce(`state_hash_in_three_clauses_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `state_hash_in_three_clauses_sk`,
    `state_hash_in_three_clauses_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as `state`,
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
    or (
        `is_current` = true
        and not (_scd2_stored.state_hash <=> xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null))
    )
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
from gold__state_hash_in_three_clauses__scd2_changes__681a4b9604e0
group by _scd2_deleted_at;

select 1 from gold__state_hash_in_three_clauses__hashed_rows__c811c02ff594 limit 1;

select 1 from gold__state_hash_in_three_clauses__scd2_changes__681a4b9604e0 where _scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted and `is_current` = true limit 1;

show tblproperties gold.state_hash_in_three_clauses;

/* commits to gold.state_hash_in_three_clauses */
merge into gold.state_hash_in_three_clauses as target
using (
    with extract as (
        select extract.*
        from gold__state_hash_in_three_clauses__hashed_rows__c811c02ff594 as extract
        left semi join (
            select true as _scd2_is_unchanged
            from (
                select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
                from gold.state_hash_in_three_clauses
            ) as now
            where if(
                fingerprint = '3 rows, files 1',
                true,
                raise_error('state_hash_in_three_clauses: gold.state_hash_in_three_clauses changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
            )
        ) as target_state
        where extract.`effective_from` = timestamp '2024-01-03 00:00:00+00:00'
    ),

    latest as (
        select
            `state_hash_in_three_clauses_hk`,
            `hash_diff`,
            `is_deleted` as _scd2_is_deleted
        from gold.state_hash_in_three_clauses
        where `is_current` = true
    ),

    compared as (
        select
            extract.*,
            latest.`state_hash_in_three_clauses_hk` is not null as _scd2_key_exists,
            latest.`state_hash_in_three_clauses_hk` is null
            or latest._scd2_is_deleted = true
            or not (latest.`hash_diff` <=> extract.`hash_diff`) as _scd2_starts_version
        from extract
        left join latest
            on extract.`state_hash_in_three_clauses_hk` = latest.`state_hash_in_three_clauses_hk`
    ),

    opening as (
        select
            `state_hash_in_three_clauses_hk`,
            `id`,
            `name`,
            `city`,
            `hash_diff`,
            xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as `state`,
            `effective_from`,
            timestamp '9999-12-31 00:00:00+00:00' as `effective_to`,
            true as `is_current`,
            false as `is_deleted`
        from compared
        where _scd2_starts_version
        union all
        select
            target.`state_hash_in_three_clauses_hk`,
            target.`id`,
            target.`name`,
            target.`city`,
            target.`hash_diff`,
            target.`state`,
            timestamp '2024-01-03 00:00:00+00:00' as `effective_from`,
            timestamp '9999-12-31 00:00:00+00:00' as `effective_to`,
            true as `is_current`,
            true as `is_deleted`
        from gold.state_hash_in_three_clauses as target
        left anti join extract
            on target.`state_hash_in_three_clauses_hk` = extract.`state_hash_in_three_clauses_hk`
        where
            target.`is_current` = true
            and target.`is_deleted` = false
    )

    -- every existing key once, so that only missing keys are not matched by source
    select
        `state_hash_in_three_clauses_hk` as _scd2_merge_key,
        _scd2_starts_version as _scd2_closes,
        null as `state_hash_in_three_clauses_sk`,
        null as `state_hash_in_three_clauses_hk`,
        null as `id`,
        null as `name`,
        null as `city`,
        null as `hash_diff`,
        null as `state`,
        null as `effective_from`,
        null as `effective_to`,
        null as `is_current`,
        null as `is_deleted`
    from compared
    where _scd2_key_exists
    union all
    -- the versions to open, under a merge key that never matches
    select
        null as _scd2_merge_key,
        false as _scd2_closes,
        sha2(concat_ws(
            '|',
            coalesce(`opening`.`state_hash_in_three_clauses_hk`, '\\N'),
            coalesce(cast(unix_micros(`opening`.`effective_from`) as string), '\\N')
        ), 256) as `state_hash_in_three_clauses_sk`,
        opening.*
    from opening
) as source
on
    target.`state_hash_in_three_clauses_hk` = source._scd2_merge_key
    and target.`is_current` = true
when matched and source._scd2_closes then update set
    -- a version closed by a deletion keeps its end
    `effective_to` = least(target.`effective_to`, timestamp '2024-01-03 00:00:00+00:00'),
    `is_current` = false
when not matched and source._scd2_merge_key is null then insert (
    `state_hash_in_three_clauses_sk`,
    `state_hash_in_three_clauses_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `state`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
values (
    source.`state_hash_in_three_clauses_sk`,
    source.`state_hash_in_three_clauses_hk`,
    source.`id`,
    source.`name`,
    source.`city`,
    source.`hash_diff`,
    source.`state`,
    source.`effective_from`,
    source.`effective_to`,
    source.`is_current`,
    source.`is_deleted`
)
when not matched by source
    and target.`is_current` = true
    and target.`is_deleted` = false
then update set
    `is_current` = false,
    `effective_to` = timestamp '2024-01-03 00:00:00+00:00';

alter table gold.state_hash_in_three_clauses set tblproperties (
    'scd2.state_hash' = '"state"',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view gold__state_hash_in_three_clauses__hashed_rows__c811c02ff594;

drop view if exists gold__state_hash_in_three_clauses__scd2_rows__07fbf3f5d767;

drop view if exists gold__state_hash_in_three_clauses__scd2_changed_keys__b79851204305;

drop view if exists gold__state_hash_in_three_clauses__scd2_changes__681a4b9604e0;

drop view gold__state_hash_in_three_clauses__source__6b2e78b3df33;
