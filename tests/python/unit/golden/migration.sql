create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.migration;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

select 1 from gold.migration where true limit 1;

describe detail gold.migration;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.old;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

set;

create or replace temporary view gold__migration__old_versions__9abc128d3744 as

with old_versions as (
    select
        cast(`id` as int) as `id`,
        cast(`name` as string) as `name`,
        cast(`city` as string) as `city`,
        cast(`since` as timestamp) as `effective_from`,
        if(
            cast(`until` as timestamp) >= timestamp '9999-12-31 00:00:00+00:00',
            null,
            cast(`until` as timestamp)
        ) as _scd2_valid_to,
        cast(null as boolean) as _scd2_marked_current,
        cast(null as boolean) as _scd2_marked_deleted,
        false as _scd2_is_tombstone,
        null as _scd2_old_key,
        null as _scd2_kept_key
    from gold.old
),

hashed as (
    select
        *,
        sha2(concat_ws(
            '|',
            coalesce(cast(`id` as string), '\\N')
        ), 256) as `migration_hk`,
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256) as `hash_diff`
    from old_versions
),

compared as (
    select
        *,
        lead(`effective_from`) over key_history as _scd2_next_at,
        lead(if(_scd2_is_tombstone, null, `effective_from`)) ignore nulls over key_history as _scd2_returns_at,
        max(if(_scd2_is_tombstone, null, `effective_from`)) over (
            partition by `migration_hk`
        ) as _scd2_last_at,
        not _scd2_is_tombstone
        and lag(struct(_scd2_is_tombstone, _scd2_valid_to, `hash_diff`)) over key_history
        <=> struct(false, `effective_from`, `hash_diff`) as _scd2_is_repeat
    from hashed
    window key_history as (
        partition by `migration_hk`
        order by `effective_from`, _scd2_is_tombstone
    )
)

select
    *,
    coalesce(lead(_scd2_is_repeat) over (
        partition by `migration_hk`
        order by `effective_from`, _scd2_is_tombstone
    ), false) as _scd2_is_repeated
from compared;

select
    count(*) filter (where not _scd2_is_repeat) as versions,
    count(distinct `migration_hk`) as keys,
    count_if(_scd2_valid_to is null) as open_versions,
    unix_micros(min(`effective_from`)) as first_beginning,
    unix_micros(max(`effective_from`) filter (where not _scd2_is_repeat)) as last_beginning,
    unix_micros(max(_scd2_valid_to) filter (where not _scd2_is_repeated)) as last_end,
    0 as surrogate_keys,
    (select max(_scd2_kept_key) from gold__migration__old_versions__9abc128d3744) as last_key,
    count_if(_scd2_is_repeat) as repeats,
    mode(unix_micros(_scd2_next_at) - unix_micros(_scd2_valid_to), true) as usual_gap
from gold__migration__old_versions__9abc128d3744
where not _scd2_is_tombstone;

with checked as (
    select
        case
            when `id` is null then 0
            when `effective_from` is null then 1
            when not _scd2_is_tombstone and _scd2_valid_to <= `effective_from` then 2
            when `effective_from` = _scd2_next_at then 3
            when not _scd2_is_tombstone and _scd2_next_at < coalesce(_scd2_valid_to, timestamp '9999-12-31') then 4
            when not _scd2_is_tombstone and _scd2_valid_to > current_timestamp() then 5
            when `effective_from` > current_timestamp() then 6
            when _scd2_is_repeat then 7
        end as problem,
        concat(concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))), ' of ', coalesce(cast(`effective_from` as string), 'no time')) as version
    from gold__migration__old_versions__9abc128d3744
)

select *
from (
    select
        *,
        count(*) over (partition by problem) as version_count,
        row_number() over (partition by problem order by version) as position
    from checked
    where problem is not null
)
where position <= 10
order by problem, position;

create or replace temporary view gold__migration__old_events__20e91f767b40 as

select
    `migration_hk`,
    `hash_diff`,
    `id`,
    `name`,
    `city`,
    `effective_from`,
    false as _scd2_is_gone
from gold__migration__old_versions__9abc128d3744
where not _scd2_is_tombstone
union all
-- a version that starts at the same time replaces the deletion
select
    `migration_hk`,
    `hash_diff`,
    `id`,
    `name`,
    `city`,
    _scd2_valid_to as `effective_from`,
    true as _scd2_is_gone
from gold__migration__old_versions__9abc128d3744
where
    not _scd2_is_tombstone
    and _scd2_valid_to is not null;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe history gold.migration limit 1;

insert into gold.migration (
    `migration_sk`,
    `migration_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
select
    versions.`migration_sk`,
    versions.`migration_hk`,
    versions.`id`,
    versions.`name`,
    versions.`city`,
    versions.`hash_diff`,
    versions.`effective_from`,
    versions.`effective_to`,
    versions.`is_current`,
    versions.`is_deleted`
from (
    with states as (
        select
            `migration_hk`,
            `id`,
            `name`,
            `city`,
            `hash_diff`,
            `effective_from` as _scd2_at,
            _scd2_is_gone,
            cast(null as timestamp) as _scd2_deleted_at,
            null as _scd2_stored
        from gold__migration__old_events__20e91f767b40 as extract
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
                partition by `migration_hk`, _scd2_at
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
        window key_history as (partition by `migration_hk` order by _scd2_at)
    ),

    islands as (
        select
            *,
            lead(if(_scd2_starts_version, _scd2_at, null)) ignore nulls over key_history as _scd2_valid_to,
            lead(if(_scd2_starts_version, _scd2_at, null), 2) ignore nulls over key_history as _scd2_returns_at,
            coalesce(lead(if(_scd2_starts_version, _scd2_is_gone, null)) ignore nulls over key_history, false) as _scd2_ends_deleted
        from change_points
        window key_history as (partition by `migration_hk` order by _scd2_at)
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
            coalesce(`migration_hk`, '\\N'),
            coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
        ), 256) as `migration_sk`,
        `migration_hk`,
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
    from versions

) as versions;

select
    count(*) as versions,
    count(distinct `migration_hk`) as keys,
    count_if(`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00') as open_versions,
    unix_micros(min(`effective_from`)) as first_beginning,
    unix_micros(max(`effective_from`)) as last_beginning,
    unix_micros(max(`effective_to`) filter (where not (`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00'))) as last_end,
    0 as surrogate_keys
from gold.migration
where
    true;

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
from gold.migration;

alter table gold.migration unset tblproperties if exists ('scd2.sample');

alter table gold.migration set tblproperties (
    'scd2.unique_key' = '["id"]',
    'scd2.surrogate_key' = 'hash',
    'scd2.flag_values' = '[true, false]',
    'scd2.open_end' = '9999-12-31',
    'scd2.closing_gap' = '0',
    'scd2.hard_deletes' = 'soft_delete',
    'scd2.unknown_member' = 'false',
    'scd2.columns' = '["city", "id", "name"]',
    'scd2.track_columns' = '["city", "name"]',
    'scd2.extracts' = '2024-01-02 00:00:00'
);

reset `spark.databricks.delta.commitInfo.userMetadata`;

drop view gold__migration__old_events__20e91f767b40;

drop view gold__migration__old_versions__9abc128d3744;
