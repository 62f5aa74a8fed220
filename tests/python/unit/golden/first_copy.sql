show tables in gold like 'first_copy';

describe query select * from silver.changes;

create or replace temporary view gold__first_copy__changelog__4540b6985068 as

select * from silver.changes;

describe table extended gold__first_copy__changelog__4540b6985068 as json;

describe table gold__first_copy__changelog__4540b6985068;

set;

show databases;

describe schema `gold`;

set `spark.sql.scripting.enabled` = `true`;

begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.`file:/warehouse/gold/first_copy`;
    select true as is_delta;
end;

describe query select `_change_ordinal` from gold__first_copy__changelog__4540b6985068;

show tables in gold like 'first_copy__ordinals';

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold__first_copy__changelog__4540b6985068;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

/* keeps rows as gold__first_copy__scd2_rows__706e66d51b6d */
select
    * except (_change_kind, _change_last_other),
    if(
        _change_kind = 'before'
        and not coalesce(_change_last_other >= struct(`_change_ordinal`), false),
        'delete',
        _change_kind
    ) as _change_kind
from (
    select
        *,
        max(if(_change_kind <=> 'before', null, struct(`_change_ordinal`))) over (partition by `id`) as _change_last_other
    from (
        select
            *,
            case
                when
                    lower(rtrim(cast(`_change_type` as string))) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                    then 'upsert'
                when lower(rtrim(cast(`_change_type` as string))) in ('delete', 'd') then 'delete'
                when lower(rtrim(cast(`_change_type` as string))) in ('update_before', 'update_preimage') then 'before'
            end as _change_kind
        from (
            select * from gold__first_copy__changelog__4540b6985068
        )
    )
);

select concat('is not a change type: ', array_join(slice(array_sort(collect_set(change_type)), 1, 10), '; ')) as change_types
from (
    select coalesce(nullif(cast(`_change_type` as string), ''), if(`_change_type` is null, 'null', '\'\'')) as change_type
    from gold__first_copy__scd2_rows__706e66d51b6d
    where _change_kind is null
)
having count(*) > 0;

select distinct concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold__first_copy__scd2_rows__706e66d51b6d
where
    `_change_ordinal` is null
    and _change_kind <> 'before'
order by business_key
limit 10;

select concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold__first_copy__scd2_rows__706e66d51b6d
where _change_kind <> 'before'
group by `id`
having count(*) > 1
order by business_key
limit 10;

create or replace table gold.first_copy__ordinals using delta
tblproperties (
    'scd2.ordinals_id' = '<run>',
    'scd2.ordered_by' = '"_change_ordinal bigint"'
)
as
select
    `id`,
    _change_ordinal,
    _change_is_deleted,
    current_timestamp() as _change_remembered_at
from (
    select
        `id`,
        `name`,
        cast(`_change_ordinal` as bigint) as _change_ordinal,
        _change_kind = 'delete' as _change_is_deleted,
        _change_kind
    from gold__first_copy__scd2_rows__706e66d51b6d
    where _change_kind <> 'before'
);

create or replace table gold.first_copy
using delta
tblproperties (
    'scd2.ordinals_id' = '<run>'
)
as
select
    `id`,
    `name`
from (
    select
        `id`,
        `name`,
        cast(`_change_ordinal` as bigint) as _change_ordinal,
        _change_kind = 'delete' as _change_is_deleted,
        _change_kind
    from gold__first_copy__scd2_rows__706e66d51b6d
    where _change_kind <> 'before'
)
where
    _change_kind = 'upsert';

select count(*) from gold.first_copy;

drop view if exists gold__first_copy__scd2_rows__706e66d51b6d;

drop view gold__first_copy__changelog__4540b6985068;
