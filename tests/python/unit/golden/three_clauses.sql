show tblproperties gold.three_clauses;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__three_clauses__source__141699fbcd67 as

select * from silver.people;

describe table extended gold__three_clauses__source__141699fbcd67 as json;

describe table gold__three_clauses__source__141699fbcd67;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.three_clauses;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.three_clauses;

describe history gold.three_clauses limit 8;

show tblproperties gold.three_clauses;

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
from gold.three_clauses version as of 7;

/* keeps rows as gold__three_clauses__scd2_rows__799d8a159955 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__three_clauses__source__141699fbcd67
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

create or replace temporary view gold__three_clauses__hashed_rows__66b27a3f24d9 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `three_clauses_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__three_clauses__scd2_rows__799d8a159955;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__three_clauses__scd2_rows__799d8a159955
group by `effective_from`
order by first_time nulls first;

/* keeps rows as gold__three_clauses__scd2_changed_keys__67bb4349b69c */
with live as (
    select
        xxhash64(`id`, `id` is null) as key_hash,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as state_hash
    from gold.three_clauses version as of 7
    where `is_current` = true and `is_deleted` = false
),

source_rows as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash
    from gold__three_clauses__scd2_rows__799d8a159955
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
from gold__three_clauses__scd2_changed_keys__67bb4349b69c;

/* keeps rows as gold__three_clauses__scd2_changes__12bf40bd5a93 */
with stored as (
    select *
    from gold.three_clauses version as of 7
    where `is_current` = true
),

versions_of_changed_keys as (
    select /*+ broadcast(changed_keys) */
        stored.* except (`three_clauses_hk`),
        sha2(concat_ws(
            '|',
            coalesce(cast(`stored`.`id` as string), '\\N')
        ), 256) as `three_clauses_hk`
    from stored
    left semi join gold__three_clauses__scd2_changed_keys__67bb4349b69c as changed_keys
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
        ), 256) as `three_clauses_hk`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`
    from (
        select /*+ broadcast(changed_keys) */ source_rows.*
        from gold__three_clauses__scd2_rows__799d8a159955 as source_rows
        left semi join gold__three_clauses__scd2_changed_keys__67bb4349b69c as changed_keys
            on source_rows._scd2_key_hash = changed_keys.key_hash
    )
),

states as (
    select
        `three_clauses_hk`,
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
            'surrogate_key', `three_clauses_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from versions_of_changed_keys
    union all
    select
        `three_clauses_hk`,
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
    window key_history as (partition by `three_clauses_hk` order by _scd2_at)
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
    window key_history as (partition by `three_clauses_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        count(_scd2_stored) over (partition by `three_clauses_hk`) as _scd2_copies
    from change_points
    window key_history as (partition by `three_clauses_hk` order by _scd2_at)
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
        coalesce(`three_clauses_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `three_clauses_sk`,
    `three_clauses_hk`,
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
from gold__three_clauses__scd2_changes__12bf40bd5a93
group by _scd2_deleted_at;

select 1 from gold__three_clauses__hashed_rows__66b27a3f24d9 limit 1;

show tblproperties gold.three_clauses;

/* commits to gold.three_clauses */
merge into gold.three_clauses as target
using (
    with extract as (
        select extract.*
        from gold__three_clauses__hashed_rows__66b27a3f24d9 as extract
        left semi join (
            select true as _scd2_is_unchanged
            from (
                select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
                from gold.three_clauses
            ) as now
            where if(
                fingerprint = '3 rows, files 1',
                true,
                raise_error('three_clauses: gold.three_clauses changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
            )
        ) as target_state
        where extract.`effective_from` = timestamp '2024-01-03 00:00:00+00:00'
    ),

    latest as (
        select
            `three_clauses_hk`,
            `hash_diff`,
            `is_deleted` as _scd2_is_deleted
        from gold.three_clauses
        where `is_current` = true
    ),

    compared as (
        select
            extract.*,
            latest.`three_clauses_hk` is not null as _scd2_key_exists,
            latest.`three_clauses_hk` is null
            or latest._scd2_is_deleted = true
            or not (latest.`hash_diff` <=> extract.`hash_diff`) as _scd2_starts_version
        from extract
        left join latest
            on extract.`three_clauses_hk` = latest.`three_clauses_hk`
    ),

    opening as (
        select
            `three_clauses_hk`,
            `id`,
            `name`,
            `city`,
            `hash_diff`,
            `effective_from`,
            timestamp '9999-12-31 00:00:00+00:00' as `effective_to`,
            true as `is_current`,
            false as `is_deleted`
        from compared
        where _scd2_starts_version
    )

    -- every existing key once, so that only missing keys are not matched by source
    select
        `three_clauses_hk` as _scd2_merge_key,
        _scd2_starts_version as _scd2_closes,
        null as `three_clauses_sk`,
        null as `three_clauses_hk`,
        null as `id`,
        null as `name`,
        null as `city`,
        null as `hash_diff`,
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
            coalesce(`opening`.`three_clauses_hk`, '\\N'),
            coalesce(cast(unix_micros(`opening`.`effective_from`) as string), '\\N')
        ), 256) as `three_clauses_sk`,
        opening.*
    from opening
) as source
on
    target.`three_clauses_hk` = source._scd2_merge_key
    and target.`is_current` = true
when matched and source._scd2_closes then update set
    -- a version closed by a deletion keeps its end
    `effective_to` = least(target.`effective_to`, timestamp '2024-01-03 00:00:00+00:00'),
    `is_current` = false
when not matched and source._scd2_merge_key is null then insert (
    `three_clauses_sk`,
    `three_clauses_hk`,
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
    source.`three_clauses_sk`,
    source.`three_clauses_hk`,
    source.`id`,
    source.`name`,
    source.`city`,
    source.`hash_diff`,
    source.`effective_from`,
    source.`effective_to`,
    source.`is_current`,
    source.`is_deleted`
)
when not matched by source
    and target.`is_current` = true
    and target.`is_deleted` = false
then update set
    `is_deleted` = true,
    `effective_to` = timestamp '2024-01-03 00:00:00+00:00';

alter table gold.three_clauses set tblproperties (
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view gold__three_clauses__hashed_rows__66b27a3f24d9;

drop view if exists gold__three_clauses__scd2_rows__799d8a159955;

drop view if exists gold__three_clauses__scd2_changed_keys__67bb4349b69c;

drop view if exists gold__three_clauses__scd2_changes__12bf40bd5a93;

drop view gold__three_clauses__source__141699fbcd67;
