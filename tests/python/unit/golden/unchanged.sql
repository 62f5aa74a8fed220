show tblproperties gold.unchanged;

set spark.databricks.delta.commitInfo.userMetadata = {"dbt_invocation_id": "<invocation>"};

describe query select * from silver.people;

create or replace temporary view gold__unchanged__source__a8de5363927e as

select * from silver.people;

set spark.sql.debug.maxToStringFields = 10000;

describe query select * from gold__unchanged__source__a8de5363927e;

set;

describe table extended gold__unchanged__source__a8de5363927e as json;

describe table gold__unchanged__source__a8de5363927e;

describe history gold.unchanged limit 1;

show tblproperties gold.unchanged;

set spark.sql.debug.maxToStringFields = 10000;

describe query select * from gold.unchanged;

create or replace temporary view `__dbt_bound_69db7966fbcd9bfa788f67333a76ea4a` as
      select * from gold.unchanged;

describe table extended `__dbt_bound_69db7966fbcd9bfa788f67333a76ea4a` as json;

describe table `__dbt_bound_69db7966fbcd9bfa788f67333a76ea4a`;

drop view `__dbt_bound_69db7966fbcd9bfa788f67333a76ea4a`;

select
    concat(count(*), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint,
    unix_micros(greatest(
        max(`effective_from`),
        max(`effective_to`) filter (
            where
                `is_deleted` = true
                and not (`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00')
        )
    )) as last_boundary,
    count_if(`is_current` = true and `is_deleted` = false) as live
from gold.unchanged version as of 7;

show tables in gold like '*__scd2_*';

create or replace temporary view gold__unchanged__source_rows__b1ce7b7e9204 as
      with source as (
    select
        `id`,
        `name`,
        `city`,
        cast(`at` as timestamp) as `effective_from`
    from gold__unchanged__source__a8de5363927e
)

select
    *,
    xxhash64(`id`, `id` is null) as _scd2_key_hash,
    xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
from source
-- extracts applied before the last one need not be read again
where
    `effective_from` is null
    or `effective_from` not in (
        timestamp '2024-01-01 00:00:00+00:00'
    );

create table gold.unchanged__scd2_rows_<run> using parquet options ('parquet.enable.dictionary' 'false', 'parquet.column.statistics.enabled' 'false', 'parquet.writer.version' 'v1') as
select *
from gold__unchanged__source_rows__b1ce7b7e9204;

create or replace temporary view gold__unchanged__hashed_rows__99ab5208a3b0 as
      select
    `id`,
    `name`,
    `city`,
    `effective_from`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`id` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `unchanged_hk`,
    sha2(concat_ws(
        '|',
        coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
        coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
    ), 256) as `hash_diff`
from gold.unchanged__scd2_rows_<run>;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count(*) as row_count,
    count_if(`effective_from` is null) as null_times,
    count_if(`id` is null) as null_keys,
    count_if(false) as unknown_changes,
    count_if(false) as null_sequences
from gold.unchanged__scd2_rows_<run>
group by `effective_from`
order by first_time nulls first;

with live as (
    select *
    from gold.unchanged version as of 7
    where `is_current` = true and `is_deleted` = false
),

extract as (
    select *
    from gold__unchanged__hashed_rows__99ab5208a3b0
    where
        `effective_from` = timestamp '2024-01-02 00:00:00+00:00'
),

differences as (
    select
        if(
            extract.`unchanged_hk` is null,
            concat_ws(', ', concat('id ', coalesce(cast(live.`id` as string), 'null'))),
            concat_ws(', ', concat('id ', coalesce(cast(extract.`id` as string), 'null')))
        ) as business_key,
        live.`unchanged_hk` is null as is_new,
        extract.`unchanged_hk` is null as is_gone
    from live
    full join extract
        on live.`unchanged_hk` = extract.`unchanged_hk`
    where
        live.`unchanged_hk` is null
        or extract.`unchanged_hk` is null
        or live.`hash_diff` <> extract.`hash_diff`
)

select
    business_key,
    count_if(is_new) over () as new_keys,
    count_if(not is_new and not is_gone) over () as changed_keys,
    count_if(is_gone) over () as gone_keys
from differences
order by business_key
limit 10;

select count(*) - count(distinct `effective_from`, _scd2_key_hash) as repeated
from gold.unchanged__scd2_rows_<run>;

drop view gold__unchanged__hashed_rows__99ab5208a3b0;

drop view gold__unchanged__source_rows__b1ce7b7e9204;

show tables in gold like 'unchanged__scd2_*';

drop table if exists gold.unchanged__scd2_rows_<run>;

drop view gold__unchanged__source__a8de5363927e;
