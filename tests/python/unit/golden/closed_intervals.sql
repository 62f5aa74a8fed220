show tables in gold like 'closed_intervals';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__closed_intervals__source__017cce003a46 as

select * from silver.people;

describe table extended gold__closed_intervals__source__017cce003a46 as json;

describe table gold__closed_intervals__source__017cce003a46;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/closed_intervals`;
    select true as is_delta;
end;

/* keeps rows as gold__closed_intervals__scd2_rows__91726ca75b3b */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__closed_intervals__source__017cce003a46
)

select
    *,
    xxhash64(`id`, `id` is null, `city`, `city` is null) as _scd2_key_hash,
    xxhash64('41086a46', `name`, `name` is null, `id`, `id` is null, `city`, `city` is null) as _scd2_state_hash
from source;

create or replace temporary view gold__closed_intervals__hashed_rows__2262f9d67374 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N'),
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `closed_intervals_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__closed_intervals__scd2_rows__91726ca75b3b;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null or `city` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences,
    count(*) - count(distinct _scd2_key_hash) as repeated
from gold__closed_intervals__scd2_rows__91726ca75b3b
group by `effective_from`
order by first_time nulls first;

/* keeps rows as gold__closed_intervals__scd2_changes__91a5168b32cd */
with states as (
    select
        `closed_intervals_hk`,
        `id`,
        `name`,
        `city`,
        `hash_diff`,
        `effective_from` as _scd2_at,
        false as _scd2_is_gone,
        map(
            timestamp '2024-01-01 00:00:00+00:00', timestamp '2024-01-02 00:00:00+00:00'
        )[`effective_from`] as _scd2_expected_at,
        null as _scd2_stored
    from gold__closed_intervals__hashed_rows__2262f9d67374 as extract
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
        if(lead(_scd2_at) over key_history <=> _scd2_expected_at, null, _scd2_expected_at) as _scd2_next_deletion_at
    from states
    window key_history as (partition by `closed_intervals_hk` order by _scd2_at)
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
    window key_history as (partition by `closed_intervals_hk` order by _scd2_at)
),

islands as (
    select
        *,
        lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
        coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted,
        lag(
            if(_scd2_starts_version, struct(`id`, `name`, `city`, `hash_diff`), null)
        ) ignore nulls over key_history as _scd2_last
    from change_points
    window key_history as (partition by `closed_intervals_hk` order by _scd2_at)
),

versions as (
    select
        * except (`id`, `name`, `city`, `hash_diff`),
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`id`, `id`) as `id`,
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`name`, `name`) as `name`,
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`city`, `city`) as `city`,
        if(_scd2_is_gone and _scd2_last is not null, _scd2_last.`hash_diff`, `hash_diff`) as `hash_diff`,
        _scd2_at as `effective_from`,
        coalesce(_scd2_valid_to - interval 1 millisecond, cast(null as timestamp)) as `effective_to`,
        if(_scd2_valid_to is null, 'Y', 'N') as `is_current`,
        if(_scd2_is_gone, 'Y', 'N') as `is_deleted`,
        'open' as _scd2_action
    from islands
    where
        _scd2_starts_version
)

select
    _scd2_action,
    row_number() over (partition by _scd2_action order by `effective_from`, `id`, `city`) as `closed_intervals_sk`,
    `closed_intervals_hk`,
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
from gold__closed_intervals__scd2_changes__91a5168b32cd
group by _scd2_deleted_at;

/* commits to gold.closed_intervals */
create or replace table gold.closed_intervals
using delta
tblproperties (
    'delta.enableDeletionVectors' = 'true',
    'scd2.unique_key' = '["id", "city"]',
    'scd2.surrogate_key' = 'sequence',
    'scd2.flag_values' = '["Y", "N"]',
    'scd2.open_end' = 'None',
    'scd2.closing_gap' = '1 millisecond',
    'scd2.hard_deletes' = 'new_record',
    'scd2.unknown_member' = 'false',
    'scd2.columns' = '["city", "id", "name"]',
    'scd2.track_columns' = '["name"]',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00'
)
as
select
    `closed_intervals_sk`,
    `closed_intervals_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
from gold__closed_intervals__scd2_changes__91a5168b32cd;

drop view gold__closed_intervals__hashed_rows__2262f9d67374;

drop view if exists gold__closed_intervals__scd2_rows__91726ca75b3b;

drop view if exists gold__closed_intervals__scd2_changes__91a5168b32cd;

drop view gold__closed_intervals__source__017cce003a46;
