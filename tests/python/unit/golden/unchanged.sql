show tblproperties gold.unchanged;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__unchanged__source__a8de5363927e as

select * from silver.people;

describe table extended gold__unchanged__source__a8de5363927e as json;

describe table gold__unchanged__source__a8de5363927e;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.unchanged;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.unchanged;

/* keeps rows as gold__unchanged__scd2_compared__b0b036c14cb6 */
with current_versions as (
    select
        `id`,
        `hash_diff` as _scd2_stored_hash,
        `effective_from` as _scd2_stored_from,
        `effective_to` as _scd2_stored_to,
        `is_current` = true and `is_deleted` = false as _scd2_is_live,
        `is_deleted` = true as _scd2_is_deleted,
        hash(_metadata.file_path) as _scd2_file_hash,
        xxhash64(`id`, `id` is null) as _scd2_key_hash,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as _scd2_state_hash
    from gold.unchanged
    where `is_current` = true
),

source_rows as (
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
        )
),

compared as (
    select
        coalesce(source_rows.`id`, current_versions.`id`) as `id`,
        source_rows.`name`,
        source_rows.`city`,
        source_rows.`effective_from`,
        source_rows._scd2_key_hash is not null as _scd2_is_source_row,
        coalesce(source_rows._scd2_key_hash, current_versions._scd2_key_hash) as _scd2_key_hash,
        source_rows._scd2_state_hash,
        current_versions._scd2_stored_hash,
        current_versions._scd2_stored_from,
        current_versions._scd2_stored_to,
        current_versions._scd2_is_live,
        current_versions._scd2_is_deleted,
        current_versions._scd2_file_hash,
        case
            when source_rows._scd2_key_hash is null and current_versions._scd2_is_live then 'deleted'
            when source_rows._scd2_key_hash is null then 'unchanged'
            when current_versions._scd2_key_hash is null then 'new'
            when current_versions._scd2_is_deleted then 'returned'
            when source_rows._scd2_state_hash <=> current_versions._scd2_state_hash then 'unchanged'
            else 'changed'
        end as _scd2_effect
    from source_rows
    full join current_versions
        on source_rows._scd2_key_hash = current_versions._scd2_key_hash
)

select
    *,
    if(
        _scd2_effect in ('new', 'changed', 'returned'),
        sha2(concat_ws(
            '|',
            coalesce(cast(`id` as string), '\\N')
        ), 256),
        null
    ) as `unchanged_hk`,
    if(
        _scd2_effect in ('new', 'changed', 'returned'),
        sha2(concat_ws(
            '|',
            coalesce(replace(replace(cast(`city` as string), '\\', '\\\\'), '|', '\\|'), '\\N'),
            coalesce(replace(replace(cast(`name` as string), '\\', '\\\\'), '|', '\\|'), '\\N')
        ), 256),
        null
    ) as `hash_diff`
from compared;

select
    unix_micros(min(`effective_from`)) as first_time,
    unix_micros(max(`effective_from`)) as last_time,
    count_if(_scd2_is_source_row) as row_count,
    count_if(_scd2_is_source_row and (`effective_from` is null or `id` is null)) as wrong_rows,
    count(*) - count(distinct _scd2_key_hash) as repeated,
    count_if(_scd2_effect in ('new', 'changed', 'returned')) as opened,
    count_if(_scd2_effect = 'changed') as changed,
    count_if(_scd2_effect = 'returned') as returned,
    count_if(_scd2_effect = 'deleted') as deleted,
    count_if(_scd2_effect = 'changed' and `hash_diff` <=> _scd2_stored_hash) as same_hash,
    unix_micros(max(_scd2_stored_from) filter (where _scd2_effect in ('changed', 'deleted'))) as last_ending,
    concat(count(_scd2_file_hash), ' rows, files ', coalesce(sum(_scd2_file_hash), 0)) as fingerprint,
    unix_micros(greatest(
        max(_scd2_stored_from),
        max(_scd2_stored_to) filter (
            where _scd2_is_deleted and not (_scd2_stored_to <=> timestamp '9999-12-31 00:00:00+00:00')
        )
    )) as high_water_mark,
    count_if(_scd2_is_live) as live,
    count_if(not _scd2_is_live and not _scd2_is_deleted) as unknown_members
from gold__unchanged__scd2_compared__b0b036c14cb6;

drop view if exists gold__unchanged__scd2_compared__b0b036c14cb6;

drop view gold__unchanged__source__a8de5363927e;
