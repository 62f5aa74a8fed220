show tblproperties gold.dropped_column;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__dropped_column__source__15f64407bff1 as

select * from silver.people;

describe table extended gold__dropped_column__source__15f64407bff1 as json;

describe table gold__dropped_column__source__15f64407bff1;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.dropped_column;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.dropped_column;

describe history gold.dropped_column limit 8;

show tblproperties gold.dropped_column;

select
    concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
from gold.dropped_column version as of 7;

/* keeps rows as gold__dropped_column__scd2_rows__481c2838f59e */
select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `dropped_column_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from (
    with source as (
        select
            `id`,
            `name`,
            cast(null as string) as `city`,
            cast(`at` as timestamp) as `effective_from`
        from gold__dropped_column__source__15f64407bff1
    )

    select
        *,
        xxhash64(`id`, `id` is null) as _scd2_key_hash,
        xxhash64('bea75aeb', `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
    from source
);

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold__dropped_column__scd2_rows__481c2838f59e;

/* keeps rows as gold__dropped_column__scd2_stored__9e87a9e77345 */
select *
from gold.dropped_column version as of 7
where
    `dropped_column_hk` in (select `dropped_column_hk` from gold__dropped_column__scd2_rows__481c2838f59e);

with claims as (
    select
        `dropped_column_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as _scd2_state,
        null as _scd2_overwritten,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as _scd2_ignored,
        false as _scd2_is_gone,
        `hash_diff` as _scd2_source_state,
        false as _scd2_is_stored
    from gold__dropped_column__scd2_rows__481c2838f59e
    union all
    select
        `dropped_column_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        -- not the hash that is stored, which may be one of columns that are gone
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as _scd2_state,
        -- what is stored there is the newest value of all, not the one of this time
        null as _scd2_overwritten,
        null as _scd2_ignored,
        false as _scd2_is_gone,
        -- what the table says of its new columns is no claim yet
        null as _scd2_source_state,
        true as _scd2_is_stored
    from gold__dropped_column__scd2_stored__9e87a9e77345
)

select distinct min(_scd2_business_key) as business_key
from claims
group by `dropped_column_hk`, `effective_from`
having
    not min(_scd2_is_stored)
    and (
        count(distinct _scd2_state) filter (where not _scd2_is_gone) > 1
        or count(distinct _scd2_source_state) filter (where not _scd2_is_gone) > 1
        or count(distinct _scd2_overwritten) filter (where not _scd2_is_gone) > 1
        or count(distinct _scd2_ignored) filter (where not _scd2_is_gone) > 1
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

/* keeps rows as gold__dropped_column__scd2_changes__7ce203a0e7f5 */
with evolved_versions as (
    select
        target.`dropped_column_sk`,
        target.`dropped_column_hk`,
        target.`id` as `id`,
        target.`name` as `name`,
        target.`city` as `city`,
        target.`hash_diff`,
        target.`effective_from`,
        target.`effective_to`,
        target.`is_current`,
        target.`is_deleted`
    from gold.dropped_column version as of 7 as target
),

stored as (
    select *
    from evolved_versions
    where (`is_current` = true or `dropped_column_hk` in (select `dropped_column_hk` from gold__dropped_column__scd2_rows__481c2838f59e))
),

states as (
    select
        `dropped_column_hk`,
        `id`,
        `name`,
        `city`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        if(
            `is_deleted` = true,
            `effective_to`,
            null
        ) as _scd2_deleted_at,
        if(
            `city` is not null,
            sha2(concat_ws(
                '|',
                coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
            ), 256),
            ''
        ) as _scd2_departed,
        named_struct(
            'surrogate_key', `dropped_column_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`
        ) as _scd2_stored
    from stored
    union all
    select
        `dropped_column_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_departed,
        null as _scd2_stored
    from gold__dropped_column__scd2_rows__481c2838f59e as extract
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
        * except (_scd2_stored, _scd2_departed, `city`),
        -- a row that replaces a version says nothing of columns that left the model
        first_value(_scd2_departed) ignore nulls over same_state as _scd2_departed,
        first_value(`city`) ignore nulls over same_state as `city`,
        max(_scd2_stored) over same_time as _scd2_stored,
        count(_scd2_stored) over same_time as _scd2_copies,
        row_number() over (
            partition by `dropped_column_hk`, _scd2_at
            order by
                _scd2_is_gone,
                _scd2_stored is null
        ) as _scd2_rank
    from events
    window
        same_time as (partition by `dropped_column_hk`, _scd2_at),
        same_state as (partition by `dropped_column_hk`, _scd2_at, _scd2_is_gone)
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
    window key_history as (partition by `dropped_column_hk` order by _scd2_at)
),

-- versions that differ in a column that left the model do not become one
kept_apart as (
    select
        * except (_scd2_starts_version),
        _scd2_starts_version
        or (
            not _scd2_is_gone
            and _scd2_departed is not null
            and not (
                _scd2_departed
                <=> last_value(
                    coalesce(_scd2_departed, if(_scd2_starts_version, '', null))
                ) ignore nulls over earlier_events
            )
        ) as _scd2_starts_version
    from change_points
    window earlier_events as (
        partition by `dropped_column_hk`
        order by _scd2_at
        rows between unbounded preceding and 1 preceding
    )
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted
    from kept_apart
    window key_history as (partition by `dropped_column_hk` order by _scd2_at)
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
        coalesce(`dropped_column_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `dropped_column_sk`,
    `dropped_column_hk`,
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
from gold__dropped_column__scd2_changes__7ce203a0e7f5
group by _scd2_deleted_at;

/* commits to gold.dropped_column */
merge into gold.dropped_column as target
using (
    select changes.*
    from gold__dropped_column__scd2_changes__7ce203a0e7f5 as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.dropped_column
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('dropped_column: gold.dropped_column changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`effective_from` = changes.`effective_from`
when matched and changes._scd2_action = 'remove' then delete
-- sets every column, so that only the columns of the condition are read
when matched then update set
    `dropped_column_sk` = changes.`dropped_column_sk`,
    `dropped_column_hk` = changes.`dropped_column_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `city` = changes.`city`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `dropped_column_sk`,
    `dropped_column_hk`,
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
    changes.`dropped_column_sk`,
    changes.`dropped_column_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

alter table gold.dropped_column set tblproperties (
    'scd2.columns' = '["id", "name"]',
    'scd2.track_columns' = '["name"]'
);

drop view if exists gold__dropped_column__scd2_rows__481c2838f59e;

drop view if exists gold__dropped_column__scd2_stored__9e87a9e77345;

drop view if exists gold__dropped_column__scd2_changes__7ce203a0e7f5;

drop view gold__dropped_column__source__15f64407bff1;
