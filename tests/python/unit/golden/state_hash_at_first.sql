show tables in gold like 'state_hash_at_first';

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__state_hash_at_first__source__376ba2dc754b as

select * from silver.people;

describe table extended gold__state_hash_at_first__source__376ba2dc754b as json;

describe table gold__state_hash_at_first__source__376ba2dc754b;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/state_hash_at_first`;
    select true as is_delta;
end;

/* keeps rows as gold__state_hash_at_first__scd2_rows__c14fb55c66b5 */
with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__state_hash_at_first__source__376ba2dc754b
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
from source;

create or replace temporary view gold__state_hash_at_first__hashed_rows__f8a3cfa85e7a as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(cast(`id` as string), '\\N')
    ), 256) as `state_hash_at_first_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold__state_hash_at_first__scd2_rows__c14fb55c66b5;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences,
    count(*) - count(distinct _scd2_key_hash) as repeated
from gold__state_hash_at_first__scd2_rows__c14fb55c66b5
group by `effective_from`
order by first_time nulls first;

/* commits to gold.state_hash_at_first */
create or replace table gold.state_hash_at_first
using delta
tblproperties (
    'delta.enableDeletionVectors' = 'false',
    'scd2.unique_key' = '["id"]',
    'scd2.surrogate_key' = 'hash',
    'scd2.flag_values' = '[true, false]',
    'scd2.open_end' = '9999-12-31',
    'scd2.closing_gap' = '0',
    'scd2.hard_deletes' = 'soft_delete',
    'scd2.unknown_member' = 'true',
    'scd2.columns' = '["city", "id", "name"]',
    'scd2.track_columns' = '["city", "name"]',
    'scd2.state_hash' = '"state"',
    'scd2.extracts' = '2024-01-01 00:00:00'
)
as
select
    sha2(concat_ws(
        '|',
        coalesce(`state_hash_at_first_hk`, '\\N'),
        coalesce(cast(unix_micros(`effective_from`) as string), '\\N')
    ), 256) as `state_hash_at_first_sk`,
    `state_hash_at_first_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as `state`,
    `effective_from`,
    timestamp '9999-12-31 00:00:00+00:00' as `effective_to`,
    true as `is_current`,
    false as `is_deleted`
from gold__state_hash_at_first__hashed_rows__f8a3cfa85e7a
union all
select
    sha2('\\N', 256),
    sha2('\\N', 256),
    null,
    null,
    null,
    sha2('\\N|\\N', 256),
    null,
    timestamp '1900-01-01 00:00:00+00:00',
    timestamp '9999-12-31 00:00:00+00:00',
    true,
    false;

drop view gold__state_hash_at_first__hashed_rows__f8a3cfa85e7a;

drop view if exists gold__state_hash_at_first__scd2_rows__c14fb55c66b5;

drop view gold__state_hash_at_first__source__376ba2dc754b;
