show tables in gold like 'type_1_and_members';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__type_1_and_members__source__b953d721dc0d as

select * from silver.people;

describe table extended gold__type_1_and_members__source__b953d721dc0d as json;

describe table gold__type_1_and_members__source__b953d721dc0d;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/type_1_and_members`;
    select true as is_delta;
end;

/* keeps rows as gold__type_1_and_members__scd2_rows__5a171dc479a7 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        `is_inferred`,
        -- an inferred row is valid from the beginning of time
        if(coalesce(`is_inferred`, false), timestamp '1900-01-01 00:00:00+00:00', cast(`at` as timestamp)) as `effective_from`
    from gold__type_1_and_members__source__b953d721dc0d
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('bea75aeb', `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
from source;

create or replace temporary view gold__type_1_and_members__hashed_rows__3312001d06ad as
      select
    `id`,
    `name`,
    `city`,
    `is_inferred`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `type_1_and_members_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__type_1_and_members__scd2_rows__5a171dc479a7;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences,
    count(*) - count(distinct _scd2_key_hash) as repeated
from gold__type_1_and_members__scd2_rows__5a171dc479a7
where not coalesce(`is_inferred`, false)
group by `effective_from`
order by first_time nulls first;

select distinct concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold__type_1_and_members__hashed_rows__3312001d06ad
where coalesce(`is_inferred`, false) and (`id` is null)
order by business_key
limit 10;

/* keeps rows as gold__type_1_and_members__scd2_changes__7d239b0b09e4 */
with states as (
    select
        `type_1_and_members_hk`,
        `id`,
        `name`,
        `city`,
        `is_inferred`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        cast(null as timestamp) as _scd2_expected_at,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__type_1_and_members__hashed_rows__3312001d06ad as extract
    where
        array_contains(
            array(
                timestamp '2024-01-01 00:00:00+00:00'
            ),
            extract.`effective_from`
        )
        or coalesce(`is_inferred`, false)
),

with_real_row as (
    select
        *,
        max(_scd2_stored is not null or (not coalesce(`is_inferred`, false) and not _scd2_is_gone)) over (partition by `type_1_and_members_hk`) as _scd2_has_real_row,
        first_value(if(not coalesce(`is_inferred`, false) and not _scd2_is_gone, struct(`id`, `name`, `city`, `is_inferred`, `hash_diff`), null)) ignore nulls over in_order as _scd2_real
    from states
    window in_order as (
        partition by `type_1_and_members_hk`
        order by _scd2_at
        rows between unbounded preceding and unbounded following
    )
),

completed as (
    select
        * except (`id`, `name`, `city`, `is_inferred`, `hash_diff`),
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`id`, `id`) as `id`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`name`, `name`) as `name`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`city`, `city`) as `city`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`is_inferred`, `is_inferred`) as `is_inferred`,
        if(coalesce(`is_inferred`, false) and _scd2_real is not null, _scd2_real.`hash_diff`, `hash_diff`) as `hash_diff`
    from with_real_row
    where not (coalesce(`is_inferred`, false) and _scd2_has_real_row and _scd2_stored is null)
),

with_deletes as (
    select
        *,
        coalesce(_scd2_deleted_at, if(lead(_scd2_at) over key_history <=> _scd2_expected_at, null, _scd2_expected_at)) as _scd2_next_deletion_at
    from completed
    window key_history as (partition by `type_1_and_members_hk` order by _scd2_at)
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

-- one event per key and time: the last one, which replaces a version that started then
ranked as (
    select
        *,
        row_number() over (
            partition by `type_1_and_members_hk`, _scd2_at
            order by
                _scd2_is_gone,
                _scd2_stored is null,
                -- of different inferred rows of a key, the same one in every run
                `hash_diff`
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
    window key_history as (partition by `type_1_and_members_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        last_value(if(_scd2_is_gone, null, struct(`city`))) ignore nulls over (
            partition by `type_1_and_members_hk`
            order by _scd2_at
            rows between unbounded preceding and unbounded following
        ) as _scd2_newest
    from change_points
    window key_history as (partition by `type_1_and_members_hk` order by _scd2_at)
),

versions as (
    select
        * except (`city`),
        if(_scd2_newest is null, `city`, _scd2_newest.`city`) as `city`,
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
        coalesce(`type_1_and_members_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256) as `type_1_and_members_sk`,
    `type_1_and_members_hk`,
    `id`,
    `name`,
    `city`,
    `is_inferred`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`,
    _scd2_valid_to is not null and not _scd2_ends_deleted as _scd2_newly_closed,
    _scd2_valid_to is not null and _scd2_ends_deleted as _scd2_newly_deleted,
    _scd2_valid_to
from versions
union all
select
    'open',
    sha2('\\N', 256),
    sha2('\\N', 256),
    null,
    null,
    null,
    null,
    sha2('\\N', 256),
    timestamp '1900-01-01 00:00:00+00:00',
    timestamp '9999-12-31 00:00:00+00:00',
    true,
    false,
    false,
    false,
    null;

select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if(_scd2_action <> 'remove' and `effective_to` <= `effective_from`) as too_short,
    0 as repeated
from gold__type_1_and_members__scd2_changes__7d239b0b09e4
group by _scd2_deleted_at;

/* commits to gold.type_1_and_members */
create or replace table gold.type_1_and_members
using delta
tblproperties (
    'delta.enableDeletionVectors' = 'true',
    'scd2.unique_key' = '["id"]',
    'scd2.surrogate_key' = 'hash',
    'scd2.flag_values' = '[true, false]',
    'scd2.open_end' = '9999-12-31',
    'scd2.closing_gap' = '0',
    'scd2.hard_deletes' = 'soft_delete',
    'scd2.unknown_member' = 'true',
    'scd2.columns' = '["city", "id", "is_inferred", "name"]',
    'scd2.track_columns' = '["name"]',
    'scd2.extracts' = '2024-01-01 00:00:00'
)
as
select
    `type_1_and_members_sk`,
    `type_1_and_members_hk`,
    `id`,
    `name`,
    `city`,
    `is_inferred`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
from gold__type_1_and_members__scd2_changes__7d239b0b09e4;

drop view gold__type_1_and_members__hashed_rows__3312001d06ad;

drop view if exists gold__type_1_and_members__scd2_rows__5a171dc479a7;

drop view if exists gold__type_1_and_members__scd2_changes__7d239b0b09e4;

drop view gold__type_1_and_members__source__b953d721dc0d;
