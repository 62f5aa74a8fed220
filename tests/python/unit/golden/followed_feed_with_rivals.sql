set;

describe table extended silver.people;

describe detail silver.people;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from silver.people;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

describe history silver.people limit 1;

show tblproperties gold.followed_feed_with_rivals;

describe history silver.people limit 5;

explain select * from table_changes_by_path('file:/silver/people', 6, 9);

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate 'KD001'
    begin
        values ('unreadable');
    end;
    with changes_of_range as (
        select
            `id`,
            `name`,
            `tags`,
            _commit_version as _change_version,
            _commit_timestamp as _change_time,
            if(_change_type in ('insert', 'update_postimage'), 1, -1) as _change_count
        from table_changes_by_path('file:/silver/people', 6, 9)
    ),

    steps as (
        select *
        from changes_of_range
        union all
        -- the rows at the end without the changes are the rows at the start
        select
            `id`,
            `name`,
            `tags`,
            -1 as _change_version,
            null as _change_time,
            -_change_count as _change_count
        from changes_of_range
        union all
        select
            `id`,
            `name`,
            `tags`,
            -1 as _change_version,
            null as _change_time,
            1 as _change_count
        from silver.people version as of 9 as latest
        left semi join changes_of_range
            on latest.`id` <=> changes_of_range.`id`
    ),

    step_counts as (
        select
            `id`,
            `name`,
            any_value(`tags`) as `tags`,
            _change_version,
            max(_change_time) as _change_time,
            sum(_change_count) as _change_count
        from steps
        group by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), _change_version
    ),

    row_counts as (
        select
            *,
            sum(_change_count) over (partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version) as _change_rows
        from step_counts
    ),

    turns as (
        select *
        from (
            select
                *,
                int(_change_rows > 0) - int(lag(_change_rows, 1, 0) over (
                    partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version
                ) > 0) as _change_turn
            from row_counts
        )
        -- the same row once more, or once less, is no difference
        where _change_turn <> 0
    ),

    rows_left as (
        select
            *,
            sum(_change_turn) over (partition by `id` order by _change_version) as _change_left
        from turns
    ),

    lifetimes as (
        select
            *,
            lead(_change_version) over (partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version) as _change_until,
            max(_change_left) over (partition by `id`) > 1 as _change_has_rivals
        from rows_left
    ),

    -- of a key with several rows, each at every version of the key at which it is there
    candidates as (
        select
            * except (_change_version, _change_time, _change_times),
            _change_at as _change_version,
            _change_at_time as _change_time
        from (
            select
                *,
                collect_set(if(_change_has_rivals, struct(_change_version as at, _change_time as at_time), null)) over (
                    partition by `id`
                ) as _change_times
            from lifetimes
        )
        lateral view inline(if(
            _change_has_rivals,
            filter(
                _change_times,
                m -> m.at = _change_version
                or (_change_rows > 0 and m.at > _change_version and (_change_until is null or m.at < _change_until))
            ),
            array(struct(_change_version as at, _change_time as at_time))
        )) as _change_at, _change_at_time
    ),

    states as (
        select
            *,
            rank() over (
                partition by `id`, _change_version
                order by
                    _change_rows > 0 desc,
                    `name` desc
            ) as _change_rank
        from candidates
    )

    select distinct concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
    from (
        select
            *,
            count(*) over (partition by `id`, _change_version) as _change_rivals
        from states
        where
            _change_rank = 1
            and _change_rows > 0
            and _change_version >= 6
    )
    where
        _change_rivals > 1
        and not (`id` is null)
    order by business_key
    limit 10;
end;

show tblproperties gold.followed_feed_with_rivals;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from (
-- reads up to version 9, committed at 2024-01-03 00:00:00 UTC
with changes_of_range as (
    select
        `id`,
        `name`,
        `tags`,
        _commit_version as _change_version,
        _commit_timestamp as _change_time,
        if(_change_type in ('insert', 'update_postimage'), 1, -1) as _change_count
    from table_changes_by_path('file:/silver/people', 6, 9)
),

steps as (
    select *
    from changes_of_range
    union all
    -- the rows at the end without the changes are the rows at the start
    select
        `id`,
        `name`,
        `tags`,
        -1 as _change_version,
        null as _change_time,
        -_change_count as _change_count
    from changes_of_range
    union all
    select
        `id`,
        `name`,
        `tags`,
        -1 as _change_version,
        null as _change_time,
        1 as _change_count
    from silver.people version as of 9 as latest
    left semi join changes_of_range
        on latest.`id` <=> changes_of_range.`id`
),

step_counts as (
    select
        `id`,
        `name`,
        any_value(`tags`) as `tags`,
        _change_version,
        max(_change_time) as _change_time,
        sum(_change_count) as _change_count
    from steps
    group by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), _change_version
),

row_counts as (
    select
        *,
        sum(_change_count) over (partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version) as _change_rows
    from step_counts
),

turns as (
    select *
    from (
        select
            *,
            int(_change_rows > 0) - int(lag(_change_rows, 1, 0) over (
                partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version
            ) > 0) as _change_turn
        from row_counts
    )
    -- the same row once more, or once less, is no difference
    where _change_turn <> 0
),

rows_left as (
    select
        *,
        sum(_change_turn) over (partition by `id` order by _change_version) as _change_left
    from turns
),

lifetimes as (
    select
        *,
        lead(_change_version) over (partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version) as _change_until,
        max(_change_left) over (partition by `id`) > 1 as _change_has_rivals
    from rows_left
),

-- of a key with several rows, each at every version of the key at which it is there
candidates as (
    select
        * except (_change_version, _change_time, _change_times),
        _change_at as _change_version,
        _change_at_time as _change_time
    from (
        select
            *,
            collect_set(if(_change_has_rivals, struct(_change_version as at, _change_time as at_time), null)) over (
                partition by `id`
            ) as _change_times
        from lifetimes
    )
    lateral view inline(if(
        _change_has_rivals,
        filter(
            _change_times,
            m -> m.at = _change_version
            or (_change_rows > 0 and m.at > _change_version and (_change_until is null or m.at < _change_until))
        ),
        array(struct(_change_version as at, _change_time as at_time))
    )) as _change_at, _change_at_time
),

states as (
    select
        *,
        rank() over (
            partition by `id`, _change_version
            order by
                _change_rows > 0 desc,
                `name` desc
        ) as _change_rank
    from candidates
)

select
    `id`,
    `name`,
    `tags`,
    if(_change_rows > 0, 'insert', 'delete') as _change_type,
    _change_version as _commit_version,
    _change_time as _commit_timestamp
from states
where
    _change_rank = 1
    and _change_version >= 6
);

create or replace temporary view gold__followed_feed_with_rivals__source__cf0301a33605 as

select * from (
-- reads up to version 9, committed at 2024-01-03 00:00:00 UTC
with changes_of_range as (
    select
        `id`,
        `name`,
        `tags`,
        _commit_version as _change_version,
        _commit_timestamp as _change_time,
        if(_change_type in ('insert', 'update_postimage'), 1, -1) as _change_count
    from table_changes_by_path('file:/silver/people', 6, 9)
),

steps as (
    select *
    from changes_of_range
    union all
    -- the rows at the end without the changes are the rows at the start
    select
        `id`,
        `name`,
        `tags`,
        -1 as _change_version,
        null as _change_time,
        -_change_count as _change_count
    from changes_of_range
    union all
    select
        `id`,
        `name`,
        `tags`,
        -1 as _change_version,
        null as _change_time,
        1 as _change_count
    from silver.people version as of 9 as latest
    left semi join changes_of_range
        on latest.`id` <=> changes_of_range.`id`
),

step_counts as (
    select
        `id`,
        `name`,
        any_value(`tags`) as `tags`,
        _change_version,
        max(_change_time) as _change_time,
        sum(_change_count) as _change_count
    from steps
    group by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), _change_version
),

row_counts as (
    select
        *,
        sum(_change_count) over (partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version) as _change_rows
    from step_counts
),

turns as (
    select *
    from (
        select
            *,
            int(_change_rows > 0) - int(lag(_change_rows, 1, 0) over (
                partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version
            ) > 0) as _change_turn
        from row_counts
    )
    -- the same row once more, or once less, is no difference
    where _change_turn <> 0
),

rows_left as (
    select
        *,
        sum(_change_turn) over (partition by `id` order by _change_version) as _change_left
    from turns
),

lifetimes as (
    select
        *,
        lead(_change_version) over (partition by `id`, `name`, concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')) order by _change_version) as _change_until,
        max(_change_left) over (partition by `id`) > 1 as _change_has_rivals
    from rows_left
),

-- of a key with several rows, each at every version of the key at which it is there
candidates as (
    select
        * except (_change_version, _change_time, _change_times),
        _change_at as _change_version,
        _change_at_time as _change_time
    from (
        select
            *,
            collect_set(if(_change_has_rivals, struct(_change_version as at, _change_time as at_time), null)) over (
                partition by `id`
            ) as _change_times
        from lifetimes
    )
    lateral view inline(if(
        _change_has_rivals,
        filter(
            _change_times,
            m -> m.at = _change_version
            or (_change_rows > 0 and m.at > _change_version and (_change_until is null or m.at < _change_until))
        ),
        array(struct(_change_version as at, _change_time as at_time))
    )) as _change_at, _change_at_time
),

states as (
    select
        *,
        rank() over (
            partition by `id`, _change_version
            order by
                _change_rows > 0 desc,
                `name` desc
        ) as _change_rank
    from candidates
)

select
    `id`,
    `name`,
    `tags`,
    if(_change_rows > 0, 'insert', 'delete') as _change_type,
    _change_version as _commit_version,
    _change_time as _commit_timestamp
from states
where
    _change_rank = 1
    and _change_version >= 6
);

describe table extended gold__followed_feed_with_rivals__source__cf0301a33605 as json;

describe table gold__followed_feed_with_rivals__source__cf0301a33605;

set;

show tables in gold like 'followed_feed_with_rivals__events';

show tblproperties gold.followed_feed_with_rivals__events;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.followed_feed_with_rivals;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.followed_feed_with_rivals;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.followed_feed_with_rivals__events;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

select count(*) as events from gold.followed_feed_with_rivals__events;

/* keeps rows as gold__followed_feed_with_rivals__scd2_compared__18a1d296e942 */
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
        xxhash64('bf3213be', `name`, `name` is null, sha2(concat_ws(
    '|',
    coalesce(replace(replace(concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
            map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), '\\', '\\\\'), '|', '\\|'), '\\N')
), 256), `id`, `id` is null) as _scd2_state_hash
    from gold.followed_feed_with_rivals
    where `is_current` = true
),

source_rows as (
    select
        *,
        lag(`effective_from`) over key_history as _scd2_time_before,
        lag(not _scd2_is_gone) over key_history as _scd2_live_before,
        lag(_scd2_state_hash) over key_history as _scd2_state_before
    from (
        with source as (
            select
                `id`,
                `name`,
                `tags`,
                `_commit_version` as `followed_feed_with_rivals_commit_version`,
                case
                    when
                        lower(rtrim(cast(`_change_type` as string))) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                        then 'upsert'
                    when lower(rtrim(cast(`_change_type` as string))) in ('delete', 'd') then 'delete'
                    when lower(rtrim(cast(`_change_type` as string))) in ('update_before', 'update_preimage') then 'before'
                end as _scd2_kind,
                cast(`_commit_timestamp` as timestamp) as `effective_from`
            from gold__followed_feed_with_rivals__source__cf0301a33605
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
                    max(not (_scd2_kind <=> 'before')) over (partition by `id`, `followed_feed_with_rivals_commit_version`) as _scd2_is_followed,
                    `effective_from` as _scd2_updated_at
                from source
            )
        )

        select
            *,
            _scd2_kind = 'delete' as _scd2_is_gone,
            xxhash64(`id`, `id` is null) as _scd2_key_hash,
            xxhash64('bf3213be', `name`, `name` is null, sha2(concat_ws(
            '|',
            coalesce(replace(replace(concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                    map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256), `id`, `id` is null) as _scd2_state_hash
        from kinds
        where
            _scd2_kind is null
            or _scd2_kind <> 'before'
    )
    window key_history as (
        partition by `id` order by `effective_from`
    )
),

compared as (
    select
        coalesce(source_rows.`id`, current_versions.`id`) as `id`,
        source_rows.`name`,
        source_rows.`tags`,
        source_rows.`followed_feed_with_rivals_commit_version`,
        source_rows.`effective_from`,
        source_rows._scd2_is_gone,
        source_rows._scd2_key_hash is not null as _scd2_is_source_row,
        coalesce(source_rows._scd2_key_hash, current_versions._scd2_key_hash) as _scd2_key_hash,
        source_rows._scd2_state_hash,
        current_versions._scd2_stored_hash,
        current_versions._scd2_stored_from,
        current_versions._scd2_stored_to,
        current_versions._scd2_is_live,
        current_versions._scd2_is_deleted,
        -- once for each version
        if(source_rows._scd2_time_before is null, current_versions._scd2_file_hash, null) as _scd2_file_hash,
        source_rows._scd2_time_before,
        coalesce(source_rows._scd2_live_before, current_versions._scd2_is_live) as _scd2_was_live,
        case
            when source_rows._scd2_key_hash is null then 'unchanged'
            when source_rows._scd2_is_gone and _scd2_was_live then 'deleted'
            when source_rows._scd2_is_gone then 'unchanged'
            when _scd2_was_live is null then 'new'
            when not _scd2_was_live then 'returned'
            when
                source_rows._scd2_state_hash <=> coalesce(
                    source_rows._scd2_state_before, current_versions._scd2_state_hash
                )
                then 'unchanged'
            else 'changed'
        end as _scd2_effect
    from source_rows
    full join current_versions
        on source_rows.`id` <=> current_versions.`id`
)

select
    *,
    if(
        _scd2_is_source_row,
        sha2(concat_ws(
            '|',
            coalesce(cast(`id` as string), '\\N')
        ), 256),
        null
    ) as `followed_feed_with_rivals_hk`,
    if(
        _scd2_is_source_row,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                    map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256),
        null
    ) as `hash_diff`
from compared;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count_if(_scd2_is_source_row) as row_count,
    count_if(_scd2_is_source_row and (`effective_from` is null or `id` is null or _scd2_is_gone is null or `followed_feed_with_rivals_commit_version` is null)) as wrong_rows,
    count_if(
        _scd2_is_source_row
        and `effective_from`
            <= greatest(_scd2_time_before, _scd2_stored_from, if(_scd2_is_deleted, _scd2_stored_to, null), _scd2_last_event)
    ) as late_rows,
    count_if(_scd2_effect in ('new', 'changed', 'returned') and _scd2_stored_from is null) as new,
    count(*) - count(distinct struct(_scd2_key_hash, `effective_from`)) as repeated,
    count_if(_scd2_effect in ('new', 'changed', 'returned')) as opened,
    count_if(_scd2_effect = 'changed') as changed,
    count(distinct _scd2_key_hash) filter (where _scd2_effect = 'returned' and _scd2_is_deleted) as returned,
    count_if(_scd2_effect = 'deleted') as deleted,
    count_if(_scd2_effect = 'changed' and _scd2_time_before is null and `hash_diff` <=> _scd2_stored_hash) as same_hash,
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
from gold__followed_feed_with_rivals__scd2_compared__18a1d296e942
left join (
    select
        `followed_feed_with_rivals_hk` as _scd2_event_key,
        max(`effective_from`) as _scd2_last_event
    from gold.followed_feed_with_rivals__events
    where `followed_feed_with_rivals_hk` in (select `followed_feed_with_rivals_hk` from gold__followed_feed_with_rivals__scd2_compared__18a1d296e942)
    group by `followed_feed_with_rivals_hk`
) as last_events
    on `followed_feed_with_rivals_hk` = _scd2_event_key;

describe history gold.followed_feed_with_rivals limit 8;

show tblproperties gold.followed_feed_with_rivals;

select
    concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint,
    (select count(*) from gold.followed_feed_with_rivals__events) as events
from gold.followed_feed_with_rivals version as of 7;

/* keeps rows as gold__followed_feed_with_rivals__scd2_rows__e1311e94df88 */
select
    `id`,
    `name`,
    `tags`,
    `followed_feed_with_rivals_commit_version`,
    `effective_from`,
    _scd2_is_gone,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `followed_feed_with_rivals_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from (
    select
        `id`,
        `name`,
        `tags`,
        `followed_feed_with_rivals_commit_version`,
        `effective_from`,
        _scd2_is_gone,
        _scd2_key_hash,
        _scd2_state_hash
    from gold__followed_feed_with_rivals__scd2_compared__18a1d296e942
    where _scd2_is_source_row
);

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(_scd2_is_gone is null) as unknown_changes,
    count_if(`followed_feed_with_rivals_commit_version` is null) as null_sequences
from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88;

select
    cast(min(`id`) as string) as least_1,
    cast(max(`id`) as string) as greatest_1
from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88;

/* keeps rows as gold__followed_feed_with_rivals__scd2_stored__e27043b0d424 */
select *
from gold.followed_feed_with_rivals version as of 7
where
    `followed_feed_with_rivals_hk` in (select `followed_feed_with_rivals_hk` from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88)
    and `id` between 1 and 4;

/* keeps rows as gold__followed_feed_with_rivals__scd2_stored_events__5a3c57d5e2f6 */
select *
from gold.followed_feed_with_rivals__events
where
    `followed_feed_with_rivals_hk` in (select `followed_feed_with_rivals_hk` from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88)
    and `id` between 1 and 4;

with claims as (
    select
        `followed_feed_with_rivals_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        `followed_feed_with_rivals_commit_version`,
        `hash_diff` as _scd2_state,
        null as _scd2_overwritten,
        _scd2_is_gone,
        false as _scd2_is_stored
    from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88
    union all
    select
        `followed_feed_with_rivals_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        `followed_feed_with_rivals_commit_version`,
        `hash_diff` as _scd2_state,
        null as _scd2_overwritten,
        _scd2_is_gone,
        true as _scd2_is_stored
    from gold__followed_feed_with_rivals__scd2_stored_events__5a3c57d5e2f6
    union all
    select
        `followed_feed_with_rivals_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        `followed_feed_with_rivals_commit_version`,
        -- not the hash that is stored, which may be one of columns that are gone
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                    map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as _scd2_state,
        -- what is stored there is the newest value of all, not the one of this time
        null as _scd2_overwritten,
        false as _scd2_is_gone,
        true as _scd2_is_stored
    from gold__followed_feed_with_rivals__scd2_stored__e27043b0d424
)

select distinct min(_scd2_business_key) as business_key
from claims
group by `followed_feed_with_rivals_hk`, `effective_from`, `followed_feed_with_rivals_commit_version`
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

/* keeps rows as gold__followed_feed_with_rivals__scd2_changes__cccb588cdcaf */
with stored as (
    select *
    from gold__followed_feed_with_rivals__scd2_stored__e27043b0d424
),

states as (
    select
        `followed_feed_with_rivals_hk`,
        `id`,
        `name`,
        `tags`,
        `followed_feed_with_rivals_commit_version`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(concat(cast(size(`tags`) as string), ':', array_join(flatten(array_sort(transform(
                    map_entries(`tags`), e -> array(coalesce(replace(replace(cast(e.key as string), '\\', '\\\\'), '|', '\\|'), '\\N'), coalesce(replace(replace(cast(e.value as string), '\\', '\\\\'), '|', '\\|'), '\\N'))))), '|')), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        if(
            `is_deleted` = true,
            `effective_to`,
            null
        ) as _scd2_deleted_at,
        named_struct(
            'surrogate_key', `followed_feed_with_rivals_sk`,
            'hash_diff', `hash_diff`,
            'effective_to', `effective_to`,
            'is_current', `is_current`,
            'is_deleted', `is_deleted`,
            'in_place_followed_feed_with_rivals_commit_version', `followed_feed_with_rivals_commit_version`
        ) as _scd2_stored
    from stored
    union all
    select
        `followed_feed_with_rivals_hk`,
        `id`,
        `name`,
        `tags`,
        `followed_feed_with_rivals_commit_version`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        _scd2_is_gone,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88 as extract
    union all
    select
        `followed_feed_with_rivals_hk`,
        `id`,
        `name`,
        `tags`,
        `followed_feed_with_rivals_commit_version`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        _scd2_is_gone,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__followed_feed_with_rivals__scd2_stored_events__5a3c57d5e2f6
),

events as (
    select
        states.* except (`followed_feed_with_rivals_commit_version`, _scd2_at, _scd2_is_gone, _scd2_stored),
        if(_scd2_event_at > states._scd2_at, null, states.`followed_feed_with_rivals_commit_version`) as `followed_feed_with_rivals_commit_version`,
        _scd2_event_at as _scd2_at,
        states._scd2_is_gone or _scd2_event_at > states._scd2_at as _scd2_is_gone,
        if(_scd2_event_at > states._scd2_at, null, states._scd2_stored) as _scd2_stored
    from states
    lateral view explode(array_compact(array(states._scd2_at, states._scd2_deleted_at))) as _scd2_event_at
),

-- one event per key and time: the last one, which replaces a version that started then
ranked as (
    select
        * except (_scd2_stored),
        max(_scd2_stored) over same_time as _scd2_stored,
        count(_scd2_stored) over same_time as _scd2_copies,
        row_number() over (
            partition by `followed_feed_with_rivals_hk`, _scd2_at
            order by
                `followed_feed_with_rivals_commit_version` desc,
                _scd2_is_gone,
                _scd2_stored is null
        ) as _scd2_rank
    from events
    window
        same_time as (partition by `followed_feed_with_rivals_hk`, _scd2_at)
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
    window key_history as (partition by `followed_feed_with_rivals_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted
    from change_points
    window key_history as (partition by `followed_feed_with_rivals_hk` order by _scd2_at)
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
        coalesce(`followed_feed_with_rivals_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256)) as `followed_feed_with_rivals_sk`,
    `followed_feed_with_rivals_hk`,
    `id`,
    `name`,
    `tags`,
    `followed_feed_with_rivals_commit_version`,
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
    or not (_scd2_stored.`in_place_followed_feed_with_rivals_commit_version` <=> `followed_feed_with_rivals_commit_version`);

select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if(_scd2_action <> 'remove' and `effective_to` <= `effective_from`) as too_short,
    count_if(_scd2_copies > 1) as repeated
from gold__followed_feed_with_rivals__scd2_changes__cccb588cdcaf
group by _scd2_deleted_at;

select max(`followed_feed_with_rivals_commit_version`) as version, unix_micros(current_timestamp()) as now from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88;

/* commits to gold.followed_feed_with_rivals */
merge into gold.followed_feed_with_rivals as target
using (
    select changes.*
    from gold__followed_feed_with_rivals__scd2_changes__cccb588cdcaf as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.followed_feed_with_rivals
        ) as now
        where if(
            fingerprint = '3 rows, files 1'
            and (select count(*) from gold.followed_feed_with_rivals__events) = 5,
            true,
            raise_error('followed_feed_with_rivals: gold.followed_feed_with_rivals changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
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
    `followed_feed_with_rivals_sk` = changes.`followed_feed_with_rivals_sk`,
    `followed_feed_with_rivals_hk` = changes.`followed_feed_with_rivals_hk`,
    `id` = changes.`id`,
    `name` = changes.`name`,
    `tags` = changes.`tags`,
    `followed_feed_with_rivals_commit_version` = changes.`followed_feed_with_rivals_commit_version`,
    `hash_diff` = changes.`hash_diff`,
    `effective_from` = changes.`effective_from`,
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `followed_feed_with_rivals_sk`,
    `followed_feed_with_rivals_hk`,
    `id`,
    `name`,
    `tags`,
    `followed_feed_with_rivals_commit_version`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
values (
    changes.`followed_feed_with_rivals_sk`,
    changes.`followed_feed_with_rivals_hk`,
    changes.`id`,
    changes.`name`,
    changes.`tags`,
    changes.`followed_feed_with_rivals_commit_version`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

insert into gold.followed_feed_with_rivals__events (
    `followed_feed_with_rivals_hk`,
    `id`,
    `name`,
    `tags`,
    `followed_feed_with_rivals_commit_version`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
)
select event.*
from (
    select
        `followed_feed_with_rivals_hk`,
        `id`,
        `name`,
        `tags`,
        `followed_feed_with_rivals_commit_version`,
        `hash_diff`,
        `effective_from`,
        `_scd2_is_gone`
    from (
        select
            *,
            row_number() over (partition by `followed_feed_with_rivals_hk`, `effective_from`, `hash_diff`, `_scd2_is_gone`, `followed_feed_with_rivals_commit_version` order by true) as _scd2_copy
        from gold__followed_feed_with_rivals__scd2_rows__e1311e94df88
    )
    where _scd2_copy = 1
) as event
left anti join gold__followed_feed_with_rivals__scd2_stored_events__5a3c57d5e2f6 as stored
    on
        stored.`followed_feed_with_rivals_hk` <=> event.`followed_feed_with_rivals_hk`
        and stored.`effective_from` <=> event.`effective_from`
        and stored.`hash_diff` <=> event.`hash_diff`
        and stored.`_scd2_is_gone` <=> event.`_scd2_is_gone`
        and stored.`followed_feed_with_rivals_commit_version` <=> event.`followed_feed_with_rivals_commit_version`
where
    if(
        (select count(*) from gold.followed_feed_with_rivals__events) = 5,
        true,
        raise_error('followed_feed_with_rivals: gold.followed_feed_with_rivals__events changed while this run was reading it. The events of this run are not remembered, and its versions may be incomplete. Remedy: wait for the other run to end, and run this model again.')
    );

alter table gold.followed_feed_with_rivals set tblproperties (
    'scd2.sequence_by' = '["_commit_version"]',
    'scd2.consumed_version' = '9',
    'scd2.consumed_at' = '2024-01-04 00:00:00',
    'scd2.consumed_commit' = '2024-01-03 00:00:00'
);

drop view if exists gold__followed_feed_with_rivals__scd2_compared__18a1d296e942;

drop view if exists gold__followed_feed_with_rivals__scd2_rows__e1311e94df88;

drop view if exists gold__followed_feed_with_rivals__scd2_stored__e27043b0d424;

drop view if exists gold__followed_feed_with_rivals__scd2_stored_events__5a3c57d5e2f6;

drop view if exists gold__followed_feed_with_rivals__scd2_changes__cccb588cdcaf;

drop view gold__followed_feed_with_rivals__source__cf0301a33605;
