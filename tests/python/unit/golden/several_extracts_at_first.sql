show tables in gold like 'several_extracts_at_first';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__several_extracts_at_first__source__dcd0a1fe77e7 as

select * from silver.people;

describe table extended gold__several_extracts_at_first__source__dcd0a1fe77e7 as json;

describe table gold__several_extracts_at_first__source__dcd0a1fe77e7;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/several_extracts_at_first`;
    select true as is_delta;
end;

/* keeps rows as gold__several_extracts_at_first__scd2_rows__12a5fc3b20c2 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__several_extracts_at_first__source__dcd0a1fe77e7
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
from source;

create or replace temporary view gold__several_extracts_at_first__hashed_rows__68d69fdbe2c8 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `several_extracts_at_first_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__several_extracts_at_first__scd2_rows__12a5fc3b20c2;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences,
    count(*) - count(distinct _scd2_key_hash) as repeated
from gold__several_extracts_at_first__scd2_rows__12a5fc3b20c2
group by `effective_from`
order by first_time nulls first;

/* keeps rows as gold__several_extracts_at_first__scd2_changes__ac4c7a00778b */
with states as (
    select
        `several_extracts_at_first_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        map(
            timestamp '2024-01-01 00:00:00+00:00', timestamp '2024-01-02 00:00:00+00:00'
        )[`effective_from`] as _scd2_expected_at,
        cast(null as timestamp) as _scd2_deleted_at,
        null as _scd2_stored
    from gold__several_extracts_at_first__hashed_rows__68d69fdbe2c8 as extract
    where
        array_contains(
            array(
                timestamp '2024-01-01 00:00:00+00:00',
                timestamp '2024-01-02 00:00:00+00:00'
            ),
            extract.`effective_from`
        )
),

with_deletes as (
    select
        *,
        coalesce(_scd2_deleted_at, if(lead(_scd2_at) over key_history <=> _scd2_expected_at, null, _scd2_expected_at)) as _scd2_next_deletion_at
    from states
    window key_history as (partition by `several_extracts_at_first_hk` order by _scd2_at)
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
    window key_history as (partition by `several_extracts_at_first_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted
    from change_points
    window key_history as (partition by `several_extracts_at_first_hk` order by _scd2_at)
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
        coalesce(`several_extracts_at_first_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256) as `several_extracts_at_first_sk`,
    `several_extracts_at_first_hk`,
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
from gold__several_extracts_at_first__scd2_changes__ac4c7a00778b
group by _scd2_deleted_at;

/* commits to gold.several_extracts_at_first */
create or replace table gold.several_extracts_at_first
using delta
tblproperties (
    'delta.enableDeletionVectors' = 'false',
    'scd2.unique_key' = '["id"]',
    'scd2.surrogate_key' = 'hash',
    'scd2.flag_values' = '[true, false]',
    'scd2.open_end' = '9999-12-31',
    'scd2.closing_gap' = '0',
    'scd2.hard_deletes' = 'soft_delete',
    'scd2.unknown_member' = 'false',
    'scd2.columns' = '["city", "id", "name"]',
    'scd2.track_columns' = '["city", "name"]',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00'
)
as
select
    `several_extracts_at_first_sk`,
    `several_extracts_at_first_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
from gold__several_extracts_at_first__scd2_changes__ac4c7a00778b;

drop view gold__several_extracts_at_first__hashed_rows__68d69fdbe2c8;

drop view if exists gold__several_extracts_at_first__scd2_rows__12a5fc3b20c2;

drop view if exists gold__several_extracts_at_first__scd2_changes__ac4c7a00778b;

drop view gold__several_extracts_at_first__source__dcd0a1fe77e7;
