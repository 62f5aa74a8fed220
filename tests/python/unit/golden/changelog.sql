show tables in gold like 'changelog';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__changelog__source__3693cc4bc507 as

select * from silver.people;

describe table extended gold__changelog__source__3693cc4bc507 as json;

describe table gold__changelog__source__3693cc4bc507;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/changelog`;
    select true as is_delta;
end;

show tables in gold like 'changelog__events';

/* keeps rows as gold__changelog__scd2_rows__6f665ba27cc0 */
select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    _scd2_is_gone,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `changelog_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from (
    with source as (
        select
            `id`,
            `name`,
            `city`,
            case
                when
                    lower(rtrim(cast(`_change_type` as string))) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                    then 'upsert'
                when lower(rtrim(cast(`_change_type` as string))) in ('delete', 'd') then 'delete'
                when lower(rtrim(cast(`_change_type` as string))) in ('update_before', 'update_preimage') then 'before'
            end as _scd2_kind,
            cast(`at` as timestamp) as `effective_from`
        from gold__changelog__source__3693cc4bc507
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
                coalesce(max(if(_scd2_kind <=> 'before', null, `effective_from`)) over (partition by `id`) >= `effective_from`, false) as _scd2_is_followed,
                cast(null as timestamp) as _scd2_updated_at
            from source
        )
    )

    select
        *,
        _scd2_kind = 'delete' as _scd2_is_gone,
        xxhash64(`id`, `id` is null) as _scd2_key_hash,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
    from kinds
    where
        _scd2_kind is null
        or _scd2_kind <> 'before'
);

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(_scd2_is_gone is null) as unknown_changes,
    count_if(false) as null_sequences,
    count(*) - count(distinct xxhash64(`id`, `id` is null)) + count_if(_scd2_is_gone) as other_rows
from gold__changelog__scd2_rows__6f665ba27cc0;

with claims as (
    select
        `changelog_hk`,
        `effective_from`,
        concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as _scd2_business_key,
        `hash_diff` as _scd2_state,
        null as _scd2_overwritten,
        _scd2_is_gone,
        false as _scd2_is_stored
    from gold__changelog__scd2_rows__6f665ba27cc0
)

select distinct min(_scd2_business_key) as business_key
from claims
group by `changelog_hk`, `effective_from`
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

/* keeps rows as gold__changelog__scd2_changes__5776fa7b30b4 */
with states as (
    select
        `changelog_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        _scd2_is_gone,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__changelog__scd2_rows__6f665ba27cc0 as extract
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
        *,
        row_number() over (
            partition by `changelog_hk`, _scd2_at
            order by
                _scd2_is_gone,
                _scd2_stored is null
        ) as _scd2_rank
    from events
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
    window key_history as (partition by `changelog_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted
    from change_points
    window key_history as (partition by `changelog_hk` order by _scd2_at)
),

versions as (
    select
        *,
        _scd2_at as `effective_from`,
        coalesce(_scd2_valid_to, timestamp '9999-12-31 00:00:00+00:00') as `effective_to`,
        if(_scd2_valid_to is null or (_scd2_ends_deleted and _scd2_returns_at is null), true, false) as `is_current`,
        if(_scd2_ends_deleted, true, false) as `is_deleted`,
        'open' as _scd2_action
    from islands
    where
        _scd2_starts_version and not _scd2_is_gone
)

select
    _scd2_action,
    sha2(concat_ws(
        '|',
        coalesce(`changelog_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256) as `changelog_sk`,
    `changelog_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`,
    _scd2_valid_to is not null and not _scd2_ends_deleted as _scd2_newly_closed,
    _scd2_valid_to is not null and _scd2_ends_deleted as _scd2_newly_deleted,
    _scd2_valid_to
from versions;

select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if(_scd2_action <> 'remove' and `effective_to` <= `effective_from`) as too_short,
    0 as repeated
from gold__changelog__scd2_changes__5776fa7b30b4
group by _scd2_deleted_at;

/* commits to gold.changelog */
create or replace table gold.changelog
using delta
tblproperties (
    'delta.enableDeletionVectors' = 'false',
    'scd2.events_id' = '<run>',
    'scd2.unique_key' = '["id"]',
    'scd2.surrogate_key' = 'hash',
    'scd2.flag_values' = '[true, false]',
    'scd2.open_end' = '9999-12-31',
    'scd2.closing_gap' = '0',
    'scd2.hard_deletes' = 'soft_delete',
    'scd2.unknown_member' = 'false'
)
as
select
    `changelog_sk`,
    `changelog_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
from gold__changelog__scd2_changes__5776fa7b30b4;

create or replace table gold.changelog__events (
    `changelog_hk` string,
    `id` int,
    `name` string,
    `city` string,
    `hash_diff` string,
    `effective_from` timestamp,
    `_scd2_is_gone` boolean
)
using delta
tblproperties (
    'scd2.events_id' = '<run>',
    'scd2.made_for' = '53f2deff693fbb8e440c93ade7e8e980'
);

insert into gold.changelog__events (
    `changelog_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
)
select
    `changelog_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
from (
    select
        *,
        row_number() over (partition by `changelog_hk`, `effective_from`, `hash_diff`, `_scd2_is_gone` order by true) as _scd2_copy
    from gold__changelog__scd2_rows__6f665ba27cc0
)
where _scd2_copy = 1;

alter table gold.changelog set tblproperties (
    'scd2.unique_key' = '["id"]',
    'scd2.surrogate_key' = 'hash',
    'scd2.flag_values' = '[true, false]',
    'scd2.open_end' = '9999-12-31',
    'scd2.closing_gap' = '0',
    'scd2.hard_deletes' = 'soft_delete',
    'scd2.unknown_member' = 'false',
    'scd2.columns' = '["city", "id", "name"]',
    'scd2.track_columns' = '["city", "name"]',
    'scd2.sequence_by' = '[]',
    'scd2.made_for' = '53f2deff693fbb8e440c93ade7e8e980'
);

drop view if exists gold__changelog__scd2_rows__6f665ba27cc0;

drop view if exists gold__changelog__scd2_changes__5776fa7b30b4;

drop view gold__changelog__source__3693cc4bc507;
