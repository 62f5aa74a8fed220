show tblproperties gold.copy_without_some_values;

describe query select * from silver.changes;

create or replace temporary view gold__copy_without_some_values__changelog__9e4fdbbed267 as

select * from silver.changes;

describe table extended gold__copy_without_some_values__changelog__9e4fdbbed267 as json;

describe table gold__copy_without_some_values__changelog__9e4fdbbed267;

set;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.copy_without_some_values;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

describe detail gold.copy_without_some_values;

create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold__copy_without_some_values__changelog__9e4fdbbed267;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

/* keeps rows as gold__copy_without_some_values__scd2_rows__cb23da080a23 */
select
    * except (_change_kind, _change_last_other),
    if(
        _change_kind = 'before'
        and not coalesce(_change_last_other >= struct(1), false),
        'delete',
        _change_kind
    ) as _change_kind
from (
    select
        *,
        max(if(_change_kind <=> 'before', null, struct(1))) over (partition by `id`) as _change_last_other
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
            select * from gold__copy_without_some_values__changelog__9e4fdbbed267
        )
    )
);

select concat('is not a change type: ', array_join(slice(array_sort(collect_set(change_type)), 1, 10), '; ')) as change_types
from (
    select coalesce(nullif(cast(`_change_type` as string), ''), if(`_change_type` is null, 'null', '\'\'')) as change_type
    from gold__copy_without_some_values__scd2_rows__cb23da080a23
    where _change_kind is null
)
having count(*) > 0;

select distinct concat_ws(', ', concat('id ', coalesce(cast(source.`id` as string), 'null'))) as business_key
from gold__copy_without_some_values__scd2_rows__cb23da080a23 as source
left anti join gold.copy_without_some_values as stored
    on stored.`id` <=> source.`id`
where
    source._change_kind = 'upsert'
    and (
        cast(source.`name` as string) in (
            '__debezium_unavailable_value',
            base64('__debezium_unavailable_value'),
            '5f5f646562657a69756d5f756e617661696c61626c655f76616c7565',
            '[__debezium_unavailable_value]',
            '[95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101]',
            '{__debezium_unavailable_value -> __debezium_unavailable_value}'
        )
    )
order by business_key
limit 10;

select concat_ws(', ', concat('id ', coalesce(cast(`id` as string), 'null'))) as business_key
from gold__copy_without_some_values__scd2_rows__cb23da080a23
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
        select
            `id`,
            `name`,
            _change_kind
        from (
            select
                source.* except (`name`),
                if(
                    cast(source.`name` as string) in (
                        '__debezium_unavailable_value',
                        base64('__debezium_unavailable_value'),
                        '5f5f646562657a69756d5f756e617661696c61626c655f76616c7565',
                        '[__debezium_unavailable_value]',
                        '[95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101]',
                        '{__debezium_unavailable_value -> __debezium_unavailable_value}'
                    ),
                    stored.`name`,
                    source.`name`
                ) as `name`
            from gold__copy_without_some_values__scd2_rows__cb23da080a23 as source
            left join gold.copy_without_some_values as stored
                on stored.`id` <=> source.`id`
        )
        where _change_kind <> 'before'
    ) as source
    left join (select *, true as _change_is_known from gold.copy_without_some_values) as target
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
      select * from gold.copy_without_some_values;

describe table extended `__dbt_bound_<thread>` as json;

describe table `__dbt_bound_<thread>`;

drop view `__dbt_bound_<thread>`;

merge into gold.copy_without_some_values as target
using (
    select
        `id`,
        `name`,
        _change_kind
    from (
        select
            source.* except (`name`),
            if(
                cast(source.`name` as string) in (
                    '__debezium_unavailable_value',
                    base64('__debezium_unavailable_value'),
                    '5f5f646562657a69756d5f756e617661696c61626c655f76616c7565',
                    '[__debezium_unavailable_value]',
                    '[95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101]',
                    '{__debezium_unavailable_value -> __debezium_unavailable_value}'
                ),
                stored.`name`,
                source.`name`
            ) as `name`
        from gold__copy_without_some_values__scd2_rows__cb23da080a23 as source
        left join gold.copy_without_some_values as stored
            on stored.`id` <=> source.`id`
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

drop view if exists gold__copy_without_some_values__scd2_rows__cb23da080a23;

drop view gold__copy_without_some_values__changelog__9e4fdbbed267;
