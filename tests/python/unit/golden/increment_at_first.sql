show tables in gold like 'increment_at_first';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__increment_at_first__source__6b6a71fe2a89 as

select * from silver.people;

describe table extended gold__increment_at_first__source__6b6a71fe2a89 as json;

describe table gold__increment_at_first__source__6b6a71fe2a89;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/increment_at_first`;
    select true as is_delta;
end;

/* keeps rows as gold__increment_at_first__scd2_rows__78f4591380f2 */
select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `increment_at_first_hk`,
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
            cast(`at` as timestamp) as `effective_from`
        from gold__increment_at_first__source__6b6a71fe2a89
    )

    select
        *,
        xxhash64(`id`, `id` is null) as _scd2_key_hash,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
    from source
);

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences,
    count(*) - count(distinct xxhash64(`id`, `id` is null)) as other_rows
from gold__increment_at_first__scd2_rows__78f4591380f2;

/* commits to gold.increment_at_first */
create or replace table gold.increment_at_first
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
    'scd2.track_columns' = '["city", "name"]'
)
as
select
    sha2(concat_ws(
        '|',
        coalesce(`increment_at_first_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256) as `increment_at_first_sk`,
    `increment_at_first_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    timestamp '9999-12-31 00:00:00+00:00' as `effective_to`,
    true as `is_current`,
    false as `is_deleted`
from gold__increment_at_first__scd2_rows__78f4591380f2;

drop view if exists gold__increment_at_first__scd2_rows__78f4591380f2;

drop view gold__increment_at_first__source__6b6a71fe2a89;
