show tables in gold like 'first_load';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__first_load__source__3e1f1790f585 as

select * from silver.people;

describe table extended gold__first_load__source__3e1f1790f585 as json;

describe table gold__first_load__source__3e1f1790f585;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/first_load`;
    select true as is_delta;
end;

/* keeps rows as gold__first_load__scd2_rows__a7832cfe4121 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__first_load__source__3e1f1790f585
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
from source;

create or replace temporary view gold__first_load__hashed_rows__94f823b5b1e1 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `first_load_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__first_load__scd2_rows__a7832cfe4121;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences,
    count(*) - count(distinct _scd2_key_hash) as repeated
from gold__first_load__scd2_rows__a7832cfe4121
group by `effective_from`
order by first_time nulls first;

/* commits to gold.first_load */
create or replace table gold.first_load
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
    'scd2.extracts' = '2024-01-01 00:00:00'
)
as
select
    sha2(concat_ws(
        '|',
        coalesce(`first_load_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256) as `first_load_sk`,
    `first_load_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `effective_from`,
    timestamp '9999-12-31 00:00:00+00:00' as `effective_to`,
    true as `is_current`,
    false as `is_deleted`
from gold__first_load__hashed_rows__94f823b5b1e1;

drop view gold__first_load__hashed_rows__94f823b5b1e1;

drop view if exists gold__first_load__scd2_rows__a7832cfe4121;

drop view gold__first_load__source__3e1f1790f585;
