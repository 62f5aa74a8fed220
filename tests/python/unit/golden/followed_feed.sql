set;

describe table extended silver.people;

describe detail silver.people;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from silver.people;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

describe history silver.people limit 1;

show tblproperties gold.followed_feed;

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
    )

    select distinct concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
    from rows_left
    where
        _change_left > 1
        and not (`id` is null)
    order by business_key
    limit 10;
end;

show tblproperties gold.followed_feed;

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

states as (
    select
        *,
        rank() over (
            partition by `id`, _change_version
            order by
                _change_rows > 0 desc
        ) as _change_rank
    from rows_left
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

create or replace temporary view gold__followed_feed__source__9891b332bd9f as

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

states as (
    select
        *,
        rank() over (
            partition by `id`, _change_version
            order by
                _change_rows > 0 desc
        ) as _change_rank
    from rows_left
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

describe table extended gold__followed_feed__source__9891b332bd9f as json;

describe table gold__followed_feed__source__9891b332bd9f;

set;

show tables in gold like 'followed_feed__events';

show tblproperties gold.followed_feed__events;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.followed_feed;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.followed_feed;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.followed_feed__events;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

select count(*) as events from gold.followed_feed__events;

/* keeps rows as gold__followed_feed__scd2_compared__6ea8420af1b6 */
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
    from gold.followed_feed
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
                `_commit_version` as `followed_feed_commit_version`,
                case
                    when
                        lower(rtrim(cast(`_change_type` as string))) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                        then 'upsert'
                    when lower(rtrim(cast(`_change_type` as string))) in ('delete', 'd') then 'delete'
                    when lower(rtrim(cast(`_change_type` as string))) in ('update_before', 'update_preimage') then 'before'
                end as _scd2_kind,
                cast(`_commit_timestamp` as timestamp) as `effective_from`
            from gold__followed_feed__source__9891b332bd9f
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
                    max(not (_scd2_kind <=> 'before')) over (partition by `id`, `followed_feed_commit_version`) as _scd2_is_followed,
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
        source_rows.`followed_feed_commit_version`,
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
    ) as `followed_feed_hk`,
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
    count_if(_scd2_is_source_row and (`effective_from` is null or `id` is null or _scd2_is_gone is null or `followed_feed_commit_version` is null)) as wrong_rows,
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
from gold__followed_feed__scd2_compared__6ea8420af1b6
left join (
    select
        `followed_feed_hk` as _scd2_event_key,
        max(`effective_from`) as _scd2_last_event
    from gold.followed_feed__events
    where `followed_feed_hk` in (select `followed_feed_hk` from gold__followed_feed__scd2_compared__6ea8420af1b6)
    group by `followed_feed_hk`
) as last_events
    on `followed_feed_hk` = _scd2_event_key;

select max(`followed_feed_commit_version`) as version, unix_micros(current_timestamp()) as now from gold__followed_feed__scd2_compared__6ea8420af1b6;

/* commits to gold.followed_feed */
merge into gold.followed_feed as target
using (
    select
        compared._scd2_action,
        if(
            compared._scd2_action = 'open',
            sha2(concat_ws(
                '|',
                coalesce(`followed_feed_hk`, '\\N'),
                coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
            ), 256),
            null
        ) as `followed_feed_sk`,
        compared.`followed_feed_hk`,
        compared.`id`,
        compared.`name`,
        compared.`tags`,
        compared.`followed_feed_commit_version`,
        compared.`hash_diff`,
        compared.`effective_from`,
        case
            when compared._scd2_action = 'open'
                then coalesce(
                    compared._scd2_next_at,
                    timestamp '9999-12-31 00:00:00+00:00'
                )
            -- a version that ended with a deletion keeps its end
            when compared._scd2_effect = 'returned' then compared._scd2_stored_to
            else compared.`effective_from`
        end as `effective_to`,
        if(compared._scd2_last_opened <=> if(compared._scd2_action = 'open', compared.`effective_from`, null), true, false) as `is_current`,
        if(if(compared._scd2_action = 'open', compared._scd2_next_effect, compared._scd2_effect) in ('deleted', 'returned'), true, false) as `is_deleted`
    from (
        select
            changing.*,
            _scd2_action
        from (
            select
                *,
                row_number() over following = 1 as _scd2_is_first,
                lead(`effective_from`) over following as _scd2_next_at,
                lead(_scd2_effect) over following as _scd2_next_effect,
                max(if(_scd2_effect in ('new', 'changed', 'returned'), `effective_from`, null))
                    over (partition by `id`) as _scd2_last_opened
            from gold__followed_feed__scd2_compared__6ea8420af1b6
            where _scd2_effect <> 'unchanged'
            window following as (partition by `id` order by `effective_from`)
        ) as changing
        lateral view explode(array_compact(array(
            if(_scd2_is_first and _scd2_stored_from is not null, 'end', null),
            if(_scd2_effect in ('new', 'changed', 'returned'), 'open', null)
        ))) as _scd2_action
    ) as compared
    -- a semi join lets Spark still see that few rows change
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.followed_feed
            where `is_current` = true
        ) as now
        where if(
            fingerprint = '3 rows, files 1'
            and (select count(*) from gold.followed_feed__events) = 5,
            true,
            raise_error('followed_feed: gold.followed_feed changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`is_current` = true
    and changes._scd2_action = 'end'
when matched then update set
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `followed_feed_sk`,
    `followed_feed_hk`,
    `id`,
    `name`,
    `tags`,
    `followed_feed_commit_version`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
values (
    changes.`followed_feed_sk`,
    changes.`followed_feed_hk`,
    changes.`id`,
    changes.`name`,
    changes.`tags`,
    changes.`followed_feed_commit_version`,
    changes.`hash_diff`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

insert into gold.followed_feed__events (
    `followed_feed_hk`,
    `id`,
    `name`,
    `tags`,
    `followed_feed_commit_version`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
)
select
    `followed_feed_hk`,
    `id`,
    `name`,
    `tags`,
    `followed_feed_commit_version`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
from gold__followed_feed__scd2_compared__6ea8420af1b6
where
    _scd2_is_source_row
    and if(
        (select count(*) from gold.followed_feed__events) = 5,
        true,
        raise_error('followed_feed: gold.followed_feed__events changed while this run was reading it. The events of this run are not remembered, and its versions may be incomplete. Remedy: wait for the other run to end, and run this model again.')
    );

alter table gold.followed_feed set tblproperties (
    'scd2.sequence_by' = '["_commit_version"]',
    'scd2.consumed_version' = '9',
    'scd2.consumed_at' = '2024-01-04 00:00:00',
    'scd2.consumed_commit' = '2024-01-03 00:00:00'
);

drop view if exists gold__followed_feed__scd2_compared__6ea8420af1b6;

drop view gold__followed_feed__source__9891b332bd9f;
