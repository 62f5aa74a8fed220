show tblproperties gold.schema_change;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__schema_change__source__0b610be5e03a as

select * from silver.people;

describe table extended gold__schema_change__source__0b610be5e03a as json;

describe table gold__schema_change__source__0b610be5e03a;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.schema_change;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.schema_change;

describe history gold.schema_change limit 8;

show tblproperties gold.schema_change;

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
from gold.schema_change version as of 7;

/* keeps rows as gold__schema_change__scd2_rows__ab48580f21ea */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__schema_change__source__0b610be5e03a
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

create or replace temporary view gold__schema_change__hashed_rows__8879f9ece7f1 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `schema_change_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__schema_change__scd2_rows__ab48580f21ea;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__schema_change__scd2_rows__ab48580f21ea
group by `effective_from`
order by first_time nulls first;

select count(*) - count(distinct `effective_from`, _scd2_key_hash) as repeated
from gold__schema_change__scd2_rows__ab48580f21ea;

/* keeps rows as gold__schema_change__scd2_changes__01f59c15fa07 */
with backfill as (
    select
        `schema_change_hk`,
        `effective_from` as backfill_at,
        any_value(
            struct(`city`, sha2(concat_ws(
                '|',
                coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
            ), 256) as _scd2_common_hash)
        ) as backfill_row
    from gold__schema_change__hashed_rows__8879f9ece7f1
    group by `schema_change_hk`, `effective_from`
),

first_backfill as (
    select
        target.`schema_change_hk`,
        target.`effective_from`,
        min_by(backfill.backfill_row, backfill.backfill_at) as backfill_row
    from gold.schema_change version as of 7 as target
    inner join backfill
        on
            target.`schema_change_hk` = backfill.`schema_change_hk`
            and target.`effective_from` <= backfill.backfill_at
    where
        target.`is_current` = true
        and target.`is_deleted` = false
    group by target.`schema_change_hk`, target.`effective_from`
),

evolved_versions as (
    select
        target.`schema_change_sk`,
        target.`schema_change_hk`,
        target.`id` as `id`,
        target.`name` as `name`,
        first_backfill.backfill_row.`city` as `city`,
        first_backfill.backfill_row is not null as _scd2_is_filled,
        target.`hash_diff`,
        target.`effective_from`,
        target.`effective_to`,
        target.`is_current`,
        target.`is_deleted`
    from gold.schema_change version as of 7 as target
    left join first_backfill
        on
            target.`schema_change_hk` = first_backfill.`schema_change_hk`
            and target.`effective_from` = first_backfill.`effective_from`
            and sha2(concat_ws(
                '|',
                coalesce(replace(replace(cast(`target`.`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
            ), 256) = first_backfill.backfill_row._scd2_common_hash
),

stored as (
    select *
    from evolved_versions
),

states as (
    select
        `schema_change_hk`,
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
        -- from an array, so that Spark can reuse the generated code of the last load
        if(`is_current` = true and `is_deleted` = false, array(timestamp '2024-01-03 00:00:00+00:00'), null)[0] as _scd2_expected_at,
        if(
            `is_deleted` = true,
            `effective_to`,
            null
        ) as _scd2_deleted_at,
        named_struct(
            'surrogate_key', `schema_change_sk`,
            'hash_diff', if(_scd2_is_filled, null, `hash_diff`),
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from stored
    union all
    select
        `schema_change_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        cast(null as timestamp) as _scd2_expected_at,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__schema_change__hashed_rows__8879f9ece7f1 as extract
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
    window key_history as (partition by `schema_change_hk` order by _scd2_at)
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
    window key_history as (partition by `schema_change_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        count(_scd2_stored) over (partition by `schema_change_hk`, _scd2_at) as _scd2_copies
    from change_points
    window key_history as (partition by `schema_change_hk` order by _scd2_at)
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
        coalesce(`schema_change_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `schema_change_sk`,
    `schema_change_hk`,
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
from gold__schema_change__scd2_changes__01f59c15fa07
group by _scd2_deleted_at;

show tblproperties gold.schema_change;

alter table gold.schema_change add columns (`city` string);

alter table gold.schema_change set tblproperties (
    'scd2.filled_columns' = '{"<invocation>": ["city"]}'
);

/* commits to gold.schema_change */
merge into gold.schema_change as target
using (
    select changes.*
    from gold__schema_change__scd2_changes__01f59c15fa07 as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.schema_change
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('schema_change: gold.schema_change changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`effective_from` = changes.`effective_from`
when matched and changes._scd2_action = 'remove' then delete
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `schema_change_sk` = changes.`schema_change_sk`,
    `schema_change_hk` = changes.`schema_change_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `schema_change_sk`,
    `schema_change_hk`,
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
    changes.`schema_change_sk`,
    changes.`schema_change_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

alter table gold.schema_change set tblproperties (
    'scd2.columns' = '["city", "id", "name"]',
    'scd2.track_columns' = '["city", "name"]',
    'scd2.filled_columns' = '{}',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view gold__schema_change__hashed_rows__8879f9ece7f1;

drop view if exists gold__schema_change__scd2_rows__ab48580f21ea;

drop view if exists gold__schema_change__scd2_changes__01f59c15fa07;

drop view gold__schema_change__source__0b610be5e03a;
