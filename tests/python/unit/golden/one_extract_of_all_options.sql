show tblproperties gold.one_extract_of_all_options;

set `spark.databricks.delta.commitInfo.userMetadata` = `{"dbt_invocation_id": "<invocation>"}`;

describe query select * from silver.people;

create or replace temporary view gold__one_extract_of_all_options__source__27a836aea09a as

select * from silver.people;

describe table extended gold__one_extract_of_all_options__source__27a836aea09a as json;

describe table gold__one_extract_of_all_options__source__27a836aea09a;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.one_extract_of_all_options;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

describe detail gold.one_extract_of_all_options;

/* keeps rows as gold__one_extract_of_all_options__scd2_compared__12c226d0271d */
with current_versions as (
    select
        `id`,
        `hash_diff` as _scd2_stored_hash,
        `effective_from` as _scd2_stored_from,
        `effective_to` as _scd2_stored_to,
        `is_current` = true and `is_deleted` = false and `id` is not null as _scd2_is_live,
        `is_deleted` = true as _scd2_is_deleted,
        hash(_metadata.file_path) as _scd2_file_hash,
        xxhash64(`id`, `id` is null) as _scd2_key_hash,
        `state` as _scd2_state_hash
    from gold.one_extract_of_all_options
    where `is_current` = true
),

source_rows as (
    with source as (
        select
            `id`,
            `name`,
            `city`,
            cast(`at` as timestamp) as `effective_from`
        from gold__one_extract_of_all_options__source__27a836aea09a
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
    ) as `one_extract_of_all_options_hk`,
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
    count_if(_scd2_is_source_row and (`effective_from` is null or `id` is null or (
    `city` in ('', '__HIVE_DEFAULT_PARTITION__')
    or not is_valid_utf8(`city`)
    or contains(`city`, chr(0))
))) as wrong_rows,
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
        max(_scd2_stored_to + interval 1 second) filter (
            where _scd2_is_deleted and not (_scd2_stored_to <=> timestamp '9999-12-31 00:00:00+00:00')
        )
    )) as high_water_mark,
    count_if(_scd2_is_live) as live,
    count_if(not _scd2_is_live and not _scd2_is_deleted) as unknown_members
from gold__one_extract_of_all_options__scd2_compared__12c226d0271d;

show tblproperties gold.one_extract_of_all_options;

/* commits to gold.one_extract_of_all_options */
merge into gold.one_extract_of_all_options as target
using (
    select
        compared._scd2_action,
        if(
            compared._scd2_action = 'open',
            coalesce(
                try_add(last_key._scd2_last_key, row_number() over (partition by compared._scd2_action order by `effective_from`, `id`)),
                raise_error('one_extract_of_all_options: the surrogate keys of gold.one_extract_of_all_options would exceed 2147483647, the largest int. No row was written. Remedy: set `surrogate_key` to `hash`, and rebuild the dimension from what its source still has with `dbt run --full-refresh --select one_extract_of_all_options --vars \'{scd2_discard_history: true}\'`')
            ),
            null
        ) as `one_extract_of_all_options_sk`,
        compared.`one_extract_of_all_options_hk`,
        compared.`id`,
        compared.`name`,
        compared.`city`,
        compared.`hash_diff`,
        xxhash64('feddefad', `city`, `city` is null, `name`, `name` is null, `id`, `id` is null) as `state`,
        compared.`effective_from`,
        case
            when compared._scd2_action = 'open' then timestamp '9999-12-31 00:00:00+00:00'
            -- a version that ended with a deletion keeps its end
            when compared._scd2_effect = 'returned' then compared._scd2_stored_to
            -- from an array, so that Spark can reuse the generated code of the last load
            else if(compared._scd2_action = 'end', array(timestamp '2024-01-03 00:00:00+00:00' - interval 1 second), null)[0]
        end as `effective_to`,
        if(compared._scd2_action = 'open' or compared._scd2_effect = 'deleted', true, false) as `is_current`,
        if(compared._scd2_action = 'end' and compared._scd2_effect <> 'changed', true, false) as `is_deleted`
    from (
        select *
        from gold__one_extract_of_all_options__scd2_compared__12c226d0271d
        lateral view explode(
            case _scd2_effect
                when 'new' then array('open')
                when 'deleted' then array('end')
                else array('end', 'open')
            end
        ) as _scd2_action
        where _scd2_effect <> 'unchanged'
    ) as compared
    cross join (select greatest(coalesce(max(`one_extract_of_all_options_sk`), 0), 0) as _scd2_last_key from gold.one_extract_of_all_options) as last_key
    -- a semi join lets Spark still see that few rows change
    left semi join (
        select true as _scd2_is_unchanged
        from (
            select concat(count(hash(_metadata.file_path)), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0)) as fingerprint
            from gold.one_extract_of_all_options
            where `is_current` = true
        ) as now
        where if(
            fingerprint = '3 rows, files 1',
            true,
            raise_error('one_extract_of_all_options: gold.one_extract_of_all_options changed while this run was reading it. No row was written. Remedy: wait for the other run to end, and run this model again.')
        )
    ) as target_state
) as changes
on
    target.`id` = changes.`id`
    and target.`is_current` = true
    and changes._scd2_action = 'end'
when matched then update set
    `effective_to` = changes.`effective_to`,
    `is_current` = changes.`is_current`,
    `is_deleted` = changes.`is_deleted`
when not matched then insert (
    `one_extract_of_all_options_sk`,
    `one_extract_of_all_options_hk`,
    `id`,
    `name`,
    `city`,
    `hash_diff`,
    `state`,
    `effective_from`,
    `effective_to`,
    `is_current`,
    `is_deleted`
)
values (
    changes.`one_extract_of_all_options_sk`,
    changes.`one_extract_of_all_options_hk`,
    changes.`id`,
    changes.`name`,
    changes.`city`,
    changes.`hash_diff`,
    changes.`state`,
    changes.`effective_from`,
    changes.`effective_to`,
    changes.`is_current`,
    changes.`is_deleted`
);

alter table gold.one_extract_of_all_options set tblproperties (
    'scd2.state_hash' = '"state"',
    'scd2.extracts' = '2024-01-01 00:00:00,2024-01-02 00:00:00,2024-01-03 00:00:00'
);

drop view if exists gold__one_extract_of_all_options__scd2_compared__12c226d0271d;

drop view gold__one_extract_of_all_options__source__27a836aea09a;
