show tblproperties gold.state_hash_added;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__state_hash_added__source__b6e52c85837a as

select * from silver.people;

describe table extended gold__state_hash_added__source__b6e52c85837a as json;

describe table gold__state_hash_added__source__b6e52c85837a;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.state_hash_added;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.state_hash_added;

describe history gold.state_hash_added limit 8;

show tblproperties gold.state_hash_added;

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
from gold.state_hash_added version as of 7;

/* keeps rows as gold__state_hash_added__scd2_rows__bd114a32b78f */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__state_hash_added__source__b6e52c85837a
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

create or replace temporary view gold__state_hash_added__hashed_rows__6abbd2448910 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `state_hash_added_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__state_hash_added__scd2_rows__bd114a32b78f;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__state_hash_added__scd2_rows__bd114a32b78f
group by `effective_from`
order by first_time nulls first;

/* keeps rows as gold__state_hash_added__scd2_changed_keys__426305d07104 */
with live as (
    select
        xxhash64(`id`, `id` is null) as key_hash,
        cast(null as bigint) as state_hash
    from gold.state_hash_added version as of 7
    where `is_current` = true and `is_deleted` = false
),

source_rows as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash
    from gold__state_hash_added__scd2_rows__bd114a32b78f
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
from gold__state_hash_added__scd2_changed_keys__426305d07104;

/* keeps rows as gold__state_hash_added__scd2_changes__d8a4a374feb6 */
with stored as (
    select *
    from gold.state_hash_added version as of 7
    where `is_current` = true
),

versions_of_changed_keys as (
    select /*+ broadcast(changed_keys) */
        stored.* except (`state_hash_added_hk`),
        sha2(concat_ws(
            '|',
            coalesce(cast(`stored`.`id` as string), '\\N')
        ), 256) as `state_hash_added_hk`
    from stored
    left semi join gold__state_hash_added__scd2_changed_keys__426305d07104 as changed_keys
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
        ), 256) as `state_hash_added_hk`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`
    from (
        select /*+ broadcast(changed_keys) */ source_rows.*
        from gold__state_hash_added__scd2_rows__bd114a32b78f as source_rows
        left semi join gold__state_hash_added__scd2_changed_keys__426305d07104 as changed_keys
            on source_rows._scd2_key_hash = changed_keys.key_hash
    )
),

states as (
    select
        `state_hash_added_hk`,
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
            'surrogate_key', `state_hash_added_sk`,
            'hash_diff', `hash_diff`,
            'state_hash', cast(null as bigint),
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from versions_of_changed_keys
    union all
    select
        `state_hash_added_hk`,
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
    window key_history as (partition by `state_hash_added_hk` order by _scd2_at)
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
    window key_history as (partition by `state_hash_added_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        count(_scd2_stored) over (partition by `state_hash_added_hk`) as _scd2_copies
    from change_points
    window key_history as (partition by `state_hash_added_hk` order by _scd2_at)
),

versions as (
    select
        *,
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
        coalesce(`state_hash_added_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `state_hash_added_sk`,
    `state_hash_added_hk`,
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
from gold__state_hash_added__scd2_changes__d8a4a374feb6
group by _scd2_deleted_at;

show tblproperties gold.state_hash_added;

alter table gold.state_hash_added add columns (`state` bigint);

/* commits to gold.state_hash_added */
merge into gold.state_hash_added as target
using (
    select changes.*
    from gold__state_hash_added__scd2_changes__d8a4a374feb6 as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.state_hash_added
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('state_hash_added: gold.state_hash_added changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`is_current` = true
    and changes._scd2_action = 'change'
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `state_hash_added_sk` = changes.`state_hash_added_sk`,
    `state_hash_added_hk` = changes.`state_hash_added_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `hash_diff` = changes.`hash_diff`,
    `state` = changes.`state`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `state_hash_added_sk`,
    `state_hash_added_hk`,
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
    changes.`state_hash_added_sk`,
    changes.`state_hash_added_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`state`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

alter table gold.state_hash_added set tblproperties (
    'scd2.state_hash' = '"state"',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view gold__state_hash_added__hashed_rows__6abbd2448910;

drop view if exists gold__state_hash_added__scd2_rows__bd114a32b78f;

drop view if exists gold__state_hash_added__scd2_changed_keys__426305d07104;

drop view if exists gold__state_hash_added__scd2_changes__d8a4a374feb6;

drop view gold__state_hash_added__source__b6e52c85837a;
