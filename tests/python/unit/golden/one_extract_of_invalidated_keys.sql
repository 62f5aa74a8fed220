show tblproperties gold.one_extract_of_invalidated_keys;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__one_extract_of_invalidated_keys__source__1990d21adc74 as

select * from silver.people;

describe table extended gold__one_extract_of_invalidated_keys__source__1990d21adc74 as json;

describe table gold__one_extract_of_invalidated_keys__source__1990d21adc74;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.one_extract_of_invalidated_keys;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.one_extract_of_invalidated_keys;

describe history gold.one_extract_of_invalidated_keys limit 8;

show tblproperties gold.one_extract_of_invalidated_keys;

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
from gold.one_extract_of_invalidated_keys version as of 7;

/* keeps rows as gold__one_extract_of_invalidated_keys__scd2_rows__8f88bd79b580 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__one_extract_of_invalidated_keys__source__1990d21adc74
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

create or replace temporary view gold__one_extract_of_invalidated_keys__hashed_rows__e79c761a33c7 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `one_extract_of_invalidated_keys_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__one_extract_of_invalidated_keys__scd2_rows__8f88bd79b580;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__one_extract_of_invalidated_keys__scd2_rows__8f88bd79b580
group by `effective_from`
order by first_time nulls first;

/* keeps rows as gold__one_extract_of_invalidated_keys__scd2_changed_keys__98923b5a9692 */
with live as (
    select
        xxhash64(`id`, `id` is null) as key_hash,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as state_hash
    from gold.one_extract_of_invalidated_keys version as of 7
    where `is_current` = true and `is_deleted` = false
),

source_rows as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash
    from gold__one_extract_of_invalidated_keys__scd2_rows__8f88bd79b580
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
from gold__one_extract_of_invalidated_keys__scd2_changed_keys__98923b5a9692;

/* keeps rows as gold__one_extract_of_invalidated_keys__scd2_changes__2703f9d7ab7c */
with stored as (
    select *
    from gold.one_extract_of_invalidated_keys version as of 7
    where `is_current` = true
),

versions_of_changed_keys as (
    select /*+ broadcast(changed_keys) */
        stored.* except (`one_extract_of_invalidated_keys_hk`),
        sha2(concat_ws(
            '|',
            coalesce(cast(`stored`.`id` as string), '\\N')
        ), 256) as `one_extract_of_invalidated_keys_hk`
    from stored
    left semi join gold__one_extract_of_invalidated_keys__scd2_changed_keys__98923b5a9692 as changed_keys
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
        ), 256) as `one_extract_of_invalidated_keys_hk`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`
    from (
        select /*+ broadcast(changed_keys) */ source_rows.*
        from gold__one_extract_of_invalidated_keys__scd2_rows__8f88bd79b580 as source_rows
        left semi join gold__one_extract_of_invalidated_keys__scd2_changed_keys__98923b5a9692 as changed_keys
            on source_rows._scd2_key_hash = changed_keys.key_hash
    )
),

states as (
    select
        `one_extract_of_invalidated_keys_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        -- from an array, so that Spark can reuse the generated code of the last load
        if(`is_current` = true and `is_deleted` = false, array(timestamp '2024-01-03 00:00:00+00:00'), null)[0] as _scd2_expected_at,
        if(
            `is_deleted` = true,
            `effective_to`,
            null
        ) as _scd2_deleted_at,
        named_struct(
            'surrogate_key', `one_extract_of_invalidated_keys_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from versions_of_changed_keys
    union all
    select
        `one_extract_of_invalidated_keys_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        cast(null as timestamp) as _scd2_expected_at,
        cast(null as timestamp) as _scd2_deleted_at,
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
        coalesce(_scd2_deleted_at, if(lead(_scd2_at) over key_history <=> _scd2_expected_at, null, _scd2_expected_at)) as _scd2_next_deletion_at
    from states
    window key_history as (partition by `one_extract_of_invalidated_keys_hk` order by _scd2_at)
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
            when _scd2_before is null then not _scd2_is_gone
            when _scd2_is_gone or _scd2_before._scd2_is_gone then _scd2_is_gone <> _scd2_before._scd2_is_gone
            else not (`hash_diff` <=> _scd2_before.`hash_diff`)
        end as _scd2_starts_version
    from events
    window key_history as (partition by `one_extract_of_invalidated_keys_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        count(_scd2_stored) over (partition by `one_extract_of_invalidated_keys_hk`) as _scd2_copies
    from change_points
    window key_history as (partition by `one_extract_of_invalidated_keys_hk` order by _scd2_at)
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
        coalesce(`one_extract_of_invalidated_keys_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `one_extract_of_invalidated_keys_sk`,
    `one_extract_of_invalidated_keys_hk`,
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
from gold__one_extract_of_invalidated_keys__scd2_changes__2703f9d7ab7c
group by _scd2_deleted_at;

show tblproperties gold.one_extract_of_invalidated_keys;

/* commits to gold.one_extract_of_invalidated_keys */
merge into gold.one_extract_of_invalidated_keys as target
using (
    select changes.*
    from gold__one_extract_of_invalidated_keys__scd2_changes__2703f9d7ab7c as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.one_extract_of_invalidated_keys
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('one_extract_of_invalidated_keys: gold.one_extract_of_invalidated_keys changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`is_current` = true
    and changes._scd2_action = 'change'
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `one_extract_of_invalidated_keys_sk` = changes.`one_extract_of_invalidated_keys_sk`,
    `one_extract_of_invalidated_keys_hk` = changes.`one_extract_of_invalidated_keys_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `one_extract_of_invalidated_keys_sk`,
    `one_extract_of_invalidated_keys_hk`,
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
    changes.`one_extract_of_invalidated_keys_sk`,
    changes.`one_extract_of_invalidated_keys_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

alter table gold.one_extract_of_invalidated_keys set tblproperties (
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view gold__one_extract_of_invalidated_keys__hashed_rows__e79c761a33c7;

drop view if exists gold__one_extract_of_invalidated_keys__scd2_rows__8f88bd79b580;

drop view if exists gold__one_extract_of_invalidated_keys__scd2_changed_keys__98923b5a9692;

drop view if exists gold__one_extract_of_invalidated_keys__scd2_changes__2703f9d7ab7c;

drop view gold__one_extract_of_invalidated_keys__source__1990d21adc74;
