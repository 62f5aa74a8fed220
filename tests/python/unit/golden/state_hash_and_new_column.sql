show tblproperties gold.state_hash_and_new_column;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__state_hash_and_new_column__source__a9cb267c4025 as

select * from silver.people;

describe table extended gold__state_hash_and_new_column__source__a9cb267c4025 as json;

describe table gold__state_hash_and_new_column__source__a9cb267c4025;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.state_hash_and_new_column;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.state_hash_and_new_column;

describe history gold.state_hash_and_new_column limit 8;

show tblproperties gold.state_hash_and_new_column;

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
from gold.state_hash_and_new_column version as of 7;

/* keeps rows as gold__state_hash_and_new_column__scd2_rows__39c12e5dbbc8 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__state_hash_and_new_column__source__a9cb267c4025
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('0483cc56', `city`, `city` is null, `id`, `id` is null) as _scd2_state_hash
from source
-- extracts applied before the last one need not be read again
where
    `effective_from` is null
    or `effective_from` not in (
        timestamp '2024-01-01 00:00:00+00:00'
    );

create or replace temporary view gold__state_hash_and_new_column__hashed_rows__5b1a2ed2301f as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `state_hash_and_new_column_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__state_hash_and_new_column__scd2_rows__39c12e5dbbc8;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__state_hash_and_new_column__scd2_rows__39c12e5dbbc8
group by `effective_from`
order by first_time nulls first;

select count(*) - count(distinct `effective_from`, _scd2_key_hash) as repeated
from gold__state_hash_and_new_column__scd2_rows__39c12e5dbbc8;

/* keeps rows as gold__state_hash_and_new_column__scd2_changes__217eef543fc7 */
with backfill as (
    select
        `state_hash_and_new_column_hk`,
        `effective_from` as backfill_at,
        any_value(
            struct(`name`, sha2(concat_ws(
                '|',
                coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
            ), 256) as _scd2_common_hash)
        ) as backfill_row
    from gold__state_hash_and_new_column__hashed_rows__5b1a2ed2301f
    group by `state_hash_and_new_column_hk`, `effective_from`
),

newest_backfill as (
    select
        `state_hash_and_new_column_hk`,
        max_by(backfill_row, backfill_at) as backfill_row
    from backfill
    group by `state_hash_and_new_column_hk`
),

evolved_versions as (
    select
        target.`state_hash_and_new_column_sk`,
        target.`state_hash_and_new_column_hk`,
        target.`id` as `id`,
        if(newest_backfill.backfill_row is null, cast(null as string), newest_backfill.backfill_row.`name`) as `name`,
        target.`city` as `city`,
        cast(null as string) as `_scd2_stored_column_name`,
        target.`hash_diff`,
        target.`state`,
        target.`effective_from`,
        target.`effective_to`,
        target.`is_current`,
        target.`is_deleted`
    from gold.state_hash_and_new_column version as of 7 as target
    left join newest_backfill
        on target.`state_hash_and_new_column_hk` = newest_backfill.`state_hash_and_new_column_hk`
),

stored as (
    select *
    from evolved_versions
),

states as (
    select
        `state_hash_and_new_column_hk`,
        `id`,
        `name`,
        `city`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`,
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
            'surrogate_key', `state_hash_and_new_column_sk`,
            'hash_diff', `hash_diff`,
            'state_hash', `state`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`,
            'in_place_name', `_scd2_stored_column_name`
        ) as _scd2_stored
    from stored
    union all
    select
        `state_hash_and_new_column_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        cast(null as timestamp) as _scd2_expected_at,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__state_hash_and_new_column__hashed_rows__5b1a2ed2301f as extract
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
    window key_history as (partition by `state_hash_and_new_column_hk` order by _scd2_at)
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
    window key_history as (partition by `state_hash_and_new_column_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        count(_scd2_stored) over (partition by `state_hash_and_new_column_hk`, _scd2_at) as _scd2_copies,
        last_value(if(_scd2_is_gone, null, struct(`name`))) ignore nulls over (
            partition by `state_hash_and_new_column_hk`
            order by _scd2_at
            rows between unbounded preceding and unbounded following
        ) as _scd2_newest
    from change_points
    window key_history as (partition by `state_hash_and_new_column_hk` order by _scd2_at)
),

versions as (
    select
        * except (`name`),
        if(_scd2_newest is null, `name`, _scd2_newest.`name`) as `name`,
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
        coalesce(`state_hash_and_new_column_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `state_hash_and_new_column_sk`,
    `state_hash_and_new_column_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    xxhash64('0483cc56', `city`, `city` is null, `id`, `id` is null) as `state`,
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
        and not (_scd2_stored.state_hash <=> xxhash64('0483cc56', `city`, `city` is null, `id`, `id` is null))
    )
    or not (_scd2_stored.effective_to <=> `effective_to`)
    or not (_scd2_stored.is_current <=> `is_current`)
    or not (_scd2_stored.is_deleted <=> `is_deleted`)
    or not (_scd2_stored.`in_place_name` <=> `name`);

select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if(_scd2_action <> 'remove' and `effective_to` <= `effective_from`) as too_short,
    count_if(_scd2_copies > 1) as repeated
from gold__state_hash_and_new_column__scd2_changes__217eef543fc7
group by _scd2_deleted_at;

show tblproperties gold.state_hash_and_new_column;

alter table gold.state_hash_and_new_column add columns (`name` string);

alter table gold.state_hash_and_new_column set tblproperties (
    'scd2.filled_columns' = '{"<invocation>": ["name"]}'
);

/* commits to gold.state_hash_and_new_column */
merge into gold.state_hash_and_new_column as target
using (
    select changes.*
    from gold__state_hash_and_new_column__scd2_changes__217eef543fc7 as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.state_hash_and_new_column
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('state_hash_and_new_column: gold.state_hash_and_new_column changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`effective_from` = changes.`effective_from`
when matched and changes._scd2_action = 'remove' then delete
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `state_hash_and_new_column_sk` = changes.`state_hash_and_new_column_sk`,
    `state_hash_and_new_column_hk` = changes.`state_hash_and_new_column_hk`,
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
    `state_hash_and_new_column_sk`,
    `state_hash_and_new_column_hk`,
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
    changes.`state_hash_and_new_column_sk`,
    changes.`state_hash_and_new_column_hk`,
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

alter table gold.state_hash_and_new_column set tblproperties (
    'scd2.columns' = '["city", "id", "name"]',
    'scd2.filled_columns' = '{}',
    'scd2.state_hash' = '"state"',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view gold__state_hash_and_new_column__hashed_rows__5b1a2ed2301f;

drop view if exists gold__state_hash_and_new_column__scd2_rows__39c12e5dbbc8;

drop view if exists gold__state_hash_and_new_column__scd2_changes__217eef543fc7;

drop view gold__state_hash_and_new_column__source__a9cb267c4025;
