show tblproperties gold.copy;

describe query select * from silver.changes;

create or replace temporary view gold__copy__changelog__8461c6397c98 as

select * from silver.changes;

describe table extended gold__copy__changelog__8461c6397c98 as json;

describe table gold__copy__changelog__8461c6397c98;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.copy;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

describe detail gold.copy;

describe query select `_change_ordinal` from gold__copy__changelog__8461c6397c98;

show tables in gold like 'copy__ordinals';

show tblproperties gold.copy__ordinals;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.copy__ordinals;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold__copy__changelog__8461c6397c98;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

/* keeps rows as gold__copy__scd2_rows__fd58c15a2dbc */
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
            select * from gold__copy__changelog__8461c6397c98
        )
    )
);

select concat('is not a change type: ', array_join(slice(array_sort(collect_set(change_type)), 1, 10), '; ')) as change_types
from (
    select coalesce(nullif(cast(`_change_type` as string), ''), if(`_change_type` is null, 'null', '\'\'')) as change_type
    from gold__copy__scd2_rows__fd58c15a2dbc
    where _change_kind is null
)
having count(*) > 0;

select distinct concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold__copy__scd2_rows__fd58c15a2dbc
where
    `_change_ordinal` is null
    and _change_kind <> 'before'
order by business_key
limit 10;

select concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold__copy__scd2_rows__fd58c15a2dbc
where _change_kind <> 'before'
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
                cast(`_change_ordinal` as bigint) as _change_ordinal,
                _change_kind = 'delete' as _change_is_deleted,
                _change_kind
            from gold__copy__scd2_rows__fd58c15a2dbc
            where _change_kind <> 'before'
        ) as changes
        left anti join gold.copy__ordinals as remembered
            on
                remembered.`id` <=> changes.`id`
                and (
                    changes._change_ordinal < remembered._change_ordinal
                    or (
                        changes._change_ordinal = remembered._change_ordinal
                        and changes._change_is_deleted
                        and not remembered._change_is_deleted
                    )
                )
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

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.copy;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

select
    count_if(changes._change_ordinal < remembered._change_ordinal
        or (
            changes._change_ordinal = remembered._change_ordinal
            and changes._change_is_deleted
            and not remembered._change_is_deleted
        )) as older,
    count_if(
        remembered._change_ordinal is null
        or remembered._change_ordinal < changes._change_ordinal
        or (
            remembered._change_ordinal = changes._change_ordinal
            and remembered._change_is_deleted
            and not changes._change_is_deleted
        )
    ) as newer
from (
    select
        `id`,
        `name`,
        cast(`_change_ordinal` as bigint) as _change_ordinal,
        _change_kind = 'delete' as _change_is_deleted,
        _change_kind
    from gold__copy__scd2_rows__fd58c15a2dbc
    where _change_kind <> 'before'
) as changes
left join gold.copy__ordinals as remembered
    on remembered.`id` <=> changes.`id`;

merge into gold.copy__ordinals as remembered
using (
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
        from gold__copy__scd2_rows__fd58c15a2dbc
        where _change_kind <> 'before'
    )
) as changes
on remembered.`id` <=> changes.`id`
when matched and (
    remembered._change_ordinal < changes._change_ordinal
    or (
        remembered._change_ordinal = changes._change_ordinal
        and remembered._change_is_deleted
        and not changes._change_is_deleted
    )
) then update set *
when not matched then insert *;

merge into gold.copy as target
using (
    select *
    from (
        select
            `id`,
            `name`,
            cast(`_change_ordinal` as bigint) as _change_ordinal,
            _change_kind = 'delete' as _change_is_deleted,
            _change_kind
        from gold__copy__scd2_rows__fd58c15a2dbc
        where _change_kind <> 'before'
    ) as changes
    left anti join gold.copy__ordinals as remembered
        on
            remembered.`id` <=> changes.`id`
            and (
                changes._change_ordinal < remembered._change_ordinal
                or (
                    changes._change_ordinal = remembered._change_ordinal
                    and changes._change_is_deleted
                    and not remembered._change_is_deleted
                )
            )
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

drop view if exists gold__copy__scd2_rows__fd58c15a2dbc;

drop view gold__copy__changelog__8461c6397c98;
