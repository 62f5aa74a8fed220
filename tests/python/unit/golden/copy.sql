describe query select * from silver.changes;

create or replace temporary view gold__copy__changelog__8461c6397c98 as

select * from silver.changes;

set spark.sql.debug.maxToStringFields = 10000;

describe query select * from gold__copy__changelog__8461c6397c98;

set;

set spark.sql.debug.maxToStringFields = 10000;

describe query select * from gold.copy;

show tables in gold like '*__scd2_*';

create or replace temporary view `__dbt_bound_bdb2d462b64206be0267900b86bc3352` as
      select * from gold__copy__changelog__8461c6397c98;

describe table extended `__dbt_bound_bdb2d462b64206be0267900b86bc3352` as json;

describe table `__dbt_bound_bdb2d462b64206be0267900b86bc3352`;

drop view `__dbt_bound_bdb2d462b64206be0267900b86bc3352`;

create table gold.copy__scd2_rows_<run> using parquet options ('parquet.enable.dictionary' 'false', 'parquet.column.statistics.enabled' 'false', 'parquet.writer.version' 'v1') as
select * from gold__copy__changelog__8461c6397c98;

select distinct if(`_change_type` = '', "''", coalesce(`_change_type`, 'null')) as change_type
from gold.copy__scd2_rows_<run>
where case
    when
        lower(`_change_type`) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
        then 'upsert'
    when lower(`_change_type`) in ('delete', 'd') then 'delete'
    when lower(`_change_type`) in ('update_before', 'update_preimage') then 'before'
end is null
order by change_type
limit 10;

select concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold.copy__scd2_rows_<run>
where case
    when
        lower(`_change_type`) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
        then 'upsert'
    when lower(`_change_type`) in ('delete', 'd') then 'delete'
    when lower(`_change_type`) in ('update_before', 'update_preimage') then 'before'
end <> 'before'
group by `id`
having count(*) > 1
order by business_key
limit 10;

with matches as (
    select
        source.`id`,
        source._change_kind,
        target._change_is_known is not null as _change_is_known,
        not (target.`name` <=> source.`name`) as _change_differs
    from (
        select *
        from (
            select
                `id`,
                `name`,
                case
                    when
                        lower(`_change_type`) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                        then 'upsert'
                    when lower(`_change_type`) in ('delete', 'd') then 'delete'
                    when lower(`_change_type`) in ('update_before', 'update_preimage') then 'before'
                end as _change_kind
            from gold.copy__scd2_rows_<run>
        )
        where _change_kind <> 'before'
    ) as source
    left join (select *, true as _change_is_known from gold.copy) as target
        on target.`id` <=> source.`id`
)

select
    count(*) as row_count,
    count(distinct struct(`id`)) as key_count,
    count_if(_change_kind = 'upsert' and not _change_is_known) as inserted,
    count_if(_change_kind = 'upsert' and _change_is_known and _change_differs) as updated,
    count_if(_change_kind = 'delete' and _change_is_known) as deleted
from matches;

create or replace temporary view `__dbt_bound_bdb2d462b64206be0267900b86bc3352` as
      select * from gold.copy;

describe table extended `__dbt_bound_bdb2d462b64206be0267900b86bc3352` as json;

describe table `__dbt_bound_bdb2d462b64206be0267900b86bc3352`;

drop view `__dbt_bound_bdb2d462b64206be0267900b86bc3352`;

merge into gold.copy as target
using (
    select *
    from (
        select
            `id`,
            `name`,
            case
                when
                    lower(`_change_type`) in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
                    then 'upsert'
                when lower(`_change_type`) in ('delete', 'd') then 'delete'
                when lower(`_change_type`) in ('update_before', 'update_preimage') then 'before'
            end as _change_kind
        from gold.copy__scd2_rows_<run>
    )
    where _change_kind <> 'before'
) as source
on target.`id` <=> source.`id`
when matched and source._change_kind = 'delete' then delete
-- a row that is as it should be is not written again
when matched and not (target.`name` <=> source.`name`) then update set
    `name` = source.`name`
when not matched and source._change_kind = 'upsert' then insert (
    `id`,
    `name`
)
values (
    source.`id`,
    source.`name`
);

show tables in gold like 'copy__scd2_*';

drop table if exists gold.copy__scd2_rows_<run>;

drop view gold__copy__changelog__8461c6397c98;
