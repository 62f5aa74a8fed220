show tblproperties gold.several_extracts;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__several_extracts__source__04507dc12cd1 as

select * from silver.people;

describe table extended gold__several_extracts__source__04507dc12cd1 as json;

describe table gold__several_extracts__source__04507dc12cd1;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.several_extracts;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.several_extracts;

/* keeps rows as gold__several_extracts__scd2_compared__d2037a0903bb */
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
    from gold.several_extracts
    where `is_current` = true
),

source_rows as (
    with source as (
        select
            `id`,
            `name`,
            `city`,
            cast(`at` as timestamp) as `effective_from`
        from gold__several_extracts__source__04507dc12cd1
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
        )
),

compared as (
    select
        coalesce(source_rows.`id`, current_versions.`id`) as `id`,
        source_rows.`name`,
        source_rows.`city`,
        source_rows.`effective_from`,
        source_rows._scd2_key_hash is not null as _scd2_is_source_row,
        coalesce(source_rows._scd2_key_hash, current_versions._scd2_key_hash) as _scd2_key_hash,
        source_rows._scd2_state_hash,
        current_versions._scd2_stored_hash,
        current_versions._scd2_stored_from,
        current_versions._scd2_stored_to,
        current_versions._scd2_is_live,
        current_versions._scd2_is_deleted,
        current_versions._scd2_file_hash,
        case
            when source_rows._scd2_key_hash is null and current_versions._scd2_is_live then 'deleted'
            when source_rows._scd2_key_hash is null then 'unchanged'
            when current_versions._scd2_key_hash is null then 'new'
            when current_versions._scd2_is_deleted then 'returned'
            when source_rows._scd2_state_hash <=> current_versions._scd2_state_hash then 'unchanged'
            else 'changed'
        end as _scd2_effect
    from source_rows
    full join current_versions
        on source_rows._scd2_key_hash = current_versions._scd2_key_hash
)

select
    *,
    if(
        _scd2_effect in ('new', 'changed', 'returned'),
        sha2(concat_ws(
            '|',
            coalesce(cast(`id` as string), '\\N')
        ), 256),
        null
    ) as `several_extracts_hk`,
    if(
        _scd2_effect in ('new', 'changed', 'returned'),
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
    count_if(_scd2_is_source_row and (`effective_from` is null or `id` is null)) as wrong_rows,
    count(*) - count(distinct _scd2_key_hash) as repeated,
    count_if(_scd2_effect in ('new', 'changed', 'returned')) as opened,
    count_if(_scd2_effect = 'changed') as changed,
    count_if(_scd2_effect = 'returned') as returned,
    count_if(_scd2_effect = 'deleted') as deleted,
    count_if(_scd2_effect = 'changed' and `hash_diff` <=> _scd2_stored_hash) as same_hash,
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
from gold__several_extracts__scd2_compared__d2037a0903bb;

describe history gold.several_extracts limit 8;

show tblproperties gold.several_extracts;

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
from gold.several_extracts version as of 7;

create or replace temporary view gold__several_extracts__hashed_rows__c20ffb36f526 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `several_extracts_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from (
    select
        `id`,
        `name`,
        `city`,
        `effective_from`,
        _scd2_key_hash,
        _scd2_state_hash
    from gold__several_extracts__scd2_compared__d2037a0903bb
    where _scd2_is_source_row
);

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from (
    select
        `id`,
        `name`,
        `city`,
        `effective_from`,
        _scd2_key_hash,
        _scd2_state_hash
    from gold__several_extracts__scd2_compared__d2037a0903bb
    where _scd2_is_source_row
)
group by `effective_from`
order by first_time nulls first;

/* keeps rows as gold__several_extracts__scd2_changed_keys__33275d9daf6c */
with live as (
    select
        xxhash64(`id`, `id` is null) as key_hash,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as state_hash,
        _scd2_extract_time as extract_time
    from gold.several_extracts version as of 7
    lateral view explode(array(
        timestamp '2024-01-03 00:00:00+00:00',
        timestamp '2024-01-04 00:00:00+00:00'
    )) as _scd2_extract_time
    where `is_current` = true and `is_deleted` = false
),

source_rows as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash,
        `effective_from` as extract_time
    from (
    select
        `id`,
        `name`,
        `city`,
        `effective_from`,
        _scd2_key_hash,
        _scd2_state_hash
    from gold__several_extracts__scd2_compared__d2037a0903bb
    where _scd2_is_source_row
)
    where `effective_from` >= timestamp '2024-01-03 00:00:00+00:00'
)

select
    coalesce(source_rows.key_hash, live.key_hash) as key_hash,
    coalesce(source_rows.extract_time, live.extract_time) as extract_time,
    live.key_hash is null as is_new,
    source_rows.key_hash is null as is_gone,
    source_rows.state_hash
from source_rows
full join live
    on
        source_rows.key_hash = live.key_hash
        and source_rows.extract_time = live.extract_time
where
    not (source_rows.state_hash <=> live.state_hash)
    -- of a key that is gone, both may be null
    or source_rows.key_hash is null;

select
    count(*) as changed,
    count_if(is_new) as new_rows,
    count_if(is_gone) as gone,
    count_if(is_new) - count(distinct extract_time, key_hash) filter (where is_new) as new_twice,
    concat(count(state_hash), ' rows, hashes ', coalesce(sum(cast(state_hash as decimal(20, 0))), 0)) as source_checksum
from gold__several_extracts__scd2_changed_keys__33275d9daf6c;

/* keeps rows as gold__several_extracts__scd2_changes__2b90d75b1dc7 */
with stored as (
    select *
    from gold.several_extracts version as of 7
    where `is_current` = true
),

versions_of_changed_keys as (
    select /*+ broadcast(changed_keys) */
        stored.* except (`several_extracts_hk`),
        sha2(concat_ws(
            '|',
            coalesce(cast(`stored`.`id` as string), '\\N')
        ), 256) as `several_extracts_hk`
    from stored
    left semi join gold__several_extracts__scd2_changed_keys__33275d9daf6c as changed_keys
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
        ), 256) as `several_extracts_hk`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`
    from (
        select /*+ broadcast(changed_keys) */ source_rows.*
        from (
        select
            `id`,
            `name`,
            `city`,
            `effective_from`,
            _scd2_key_hash,
            _scd2_state_hash
        from gold__several_extracts__scd2_compared__d2037a0903bb
        where _scd2_is_source_row
    ) as source_rows
        left semi join gold__several_extracts__scd2_changed_keys__33275d9daf6c as changed_keys
            on source_rows._scd2_key_hash = changed_keys.key_hash
    )
),

states as (
    select
        `several_extracts_hk`,
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
            'surrogate_key', `several_extracts_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from versions_of_changed_keys
    union all
    select
        `several_extracts_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        map(
            timestamp '2024-01-03 00:00:00+00:00', timestamp '2024-01-04 00:00:00+00:00'
        )[`effective_from`] as _scd2_expected_at,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from rows_of_changed_keys as extract
    where
        array_contains(
            array(
                timestamp '2024-01-03 00:00:00+00:00',
                timestamp '2024-01-04 00:00:00+00:00'
            ),
            extract.`effective_from`
        )
),

with_deletes as (
    select
        *,
        coalesce(_scd2_deleted_at, if(lead(_scd2_at) over key_history <=> _scd2_expected_at, null, _scd2_expected_at)) as _scd2_next_deletion_at
    from states
    window key_history as (partition by `several_extracts_hk` order by _scd2_at)
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
    window key_history as (partition by `several_extracts_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        count(_scd2_stored) over (partition by `several_extracts_hk`) as _scd2_copies
    from change_points
    window key_history as (partition by `several_extracts_hk` order by _scd2_at)
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
        coalesce(`several_extracts_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `several_extracts_sk`,
    `several_extracts_hk`,
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
from gold__several_extracts__scd2_changes__2b90d75b1dc7
group by _scd2_deleted_at;

show tblproperties gold.several_extracts;

/* commits to gold.several_extracts */
merge into gold.several_extracts as target
using (
    select changes.*
    from gold__several_extracts__scd2_changes__2b90d75b1dc7 as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.several_extracts
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('several_extracts: gold.several_extracts changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`is_current` = true
    and changes._scd2_action = 'change'
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `several_extracts_sk` = changes.`several_extracts_sk`,
    `several_extracts_hk` = changes.`several_extracts_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `several_extracts_sk`,
    `several_extracts_hk`,
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
    changes.`several_extracts_sk`,
    changes.`several_extracts_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

alter table gold.several_extracts set tblproperties (
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00,2024-01-04 00:00:00'
);

drop view gold__several_extracts__hashed_rows__c20ffb36f526;

drop view if exists gold__several_extracts__scd2_compared__d2037a0903bb;

drop view if exists gold__several_extracts__scd2_changed_keys__33275d9daf6c;

drop view if exists gold__several_extracts__scd2_changes__2b90d75b1dc7;

drop view gold__several_extracts__source__04507dc12cd1;
