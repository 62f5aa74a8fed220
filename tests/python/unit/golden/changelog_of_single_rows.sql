show tables in gold like 'changelog_of_single_rows';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__changelog_of_single_rows__source__ed40da379082 as

select * from silver.people;

describe table extended gold__changelog_of_single_rows__source__ed40da379082 as json;

describe table gold__changelog_of_single_rows__source__ed40da379082;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/changelog_of_single_rows`;
    select true as is_delta;
end;

show tables in gold like 'changelog_of_single_rows__events';

/* keeps rows as gold__changelog_of_single_rows__scd2_rows__d9e9120bf47b */
select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    _scd2_is_gone,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `changelog_of_single_rows_hk`,
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
        from gold__changelog_of_single_rows__source__ed40da379082
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
from gold__changelog_of_single_rows__scd2_rows__d9e9120bf47b;

/* commits to gold.changelog_of_single_rows */
create or replace table gold.changelog_of_single_rows
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
    sha2(concat_ws(
        '|',
        coalesce(`changelog_of_single_rows_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256) as `changelog_of_single_rows_sk`,
    `changelog_of_single_rows_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    timestamp '9999-12-31 00:00:00+00:00' as `effective_to`,
    true as `is_current`,
    false as `is_deleted`
from gold__changelog_of_single_rows__scd2_rows__d9e9120bf47b;

create or replace table gold.changelog_of_single_rows__events (
    `changelog_of_single_rows_hk` string,
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

insert into gold.changelog_of_single_rows__events (
    `changelog_of_single_rows_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
)
select
    `changelog_of_single_rows_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    `_scd2_is_gone`
from gold__changelog_of_single_rows__scd2_rows__d9e9120bf47b;

alter table gold.changelog_of_single_rows set tblproperties (
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

drop view if exists gold__changelog_of_single_rows__scd2_rows__d9e9120bf47b;

drop view gold__changelog_of_single_rows__source__ed40da379082;
