create or replace temporary view `__dbt_bound_<thread>` as
      select * from gold.tests_of_a_dimension;

describe table extended `__dbt_bound_<thread>` as json;

drop view `__dbt_bound_<thread>`;

with versions as (
    select
        `id`,
        `effective_from`,
        `effective_to`,
        `is_current`,
        `is_deleted`,
        struct(`city`, `name`) as _scd2_tracked
    from gold.tests_of_a_dimension
),

neighbours as (
    select
        *,
        lead(`effective_from`) over (
            partition by `id`
            order by `effective_from`, `effective_to` nulls last
        ) as _scd2_next_from,
        lag(`effective_from`) over key_history as _scd2_previous_from,
        lag(`is_deleted`) over key_history as _scd2_previous_is_deleted,
        lag(_scd2_tracked) over key_history as _scd2_previous_tracked
    from versions
    window key_history as (partition by `id` order by `effective_from`)
),

business_keys as (
    select
        count_if(`is_current` = true) as current_rows,
        max_by(`is_current` = true, `effective_from`) as last_is_current,
        count_if(
            _scd2_next_from is not null
            and coalesce(`effective_to` > _scd2_next_from, true)
        ) as overlapping,
        count_if(
            case
                when `effective_from` is null then 'has no beginning'
                when `effective_to` is null then 'has no end'
                when `effective_from` >= `effective_to` then 'ends before it begins'
                when
                    `effective_to` < _scd2_next_from
                    and `is_deleted` = false
                    then 'leaves a gap without a deletion'
                when
                    _scd2_next_from is null
                    and not (`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00')
                    and `is_deleted` = false
                    then 'ends without a deletion'
                when
                    `effective_to` >= _scd2_next_from
                    and `is_deleted` = true
                    then 'is deleted where the next version begins'
            end is not null
        ) as invalid,
        count_if(
            _scd2_previous_is_deleted = false
            and _scd2_tracked <=> _scd2_previous_tracked
        ) as repeated,
        count_if(
            -- the flag has neither of its two values
            not coalesce(`is_deleted` in (true, false), false)
            or (
                `is_deleted` = true
                and (`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00')
            )
        ) as deleted_but_open
    from neighbours
    group by `id`
)

select
    coalesce(sum(deleted_but_open), 0) as deleted_rows_closed,
    coalesce(sum(overlapping), 0) as no_overlapping_validity,
    count_if(
        current_rows <> 1
        or not coalesce(last_is_current, false)
    ) as one_current_row_per_key,
    coalesce(sum(invalid), 0) as valid_intervals,
    coalesce(sum(repeated), 0) as versions_differ
from business_keys;

select
      count(*) as failures,
      count(*) != 0 as should_warn,
      count(*) != 0 as should_error
    from (


  -- 0 failing rows, counted with the other tests of tests_of_a_dimension
select 1 as failing_row
where false



    ) dbt_internal_test;

select
      count(*) as failures,
      count(*) != 0 as should_warn,
      count(*) != 0 as should_error
    from (


  -- 0 failing rows, counted with the other tests of tests_of_a_dimension
select 1 as failing_row
where false



    ) dbt_internal_test;

select
      count(*) as failures,
      count(*) != 0 as should_warn,
      count(*) != 0 as should_error
    from (


  -- 0 failing rows, counted with the other tests of tests_of_a_dimension
select 1 as failing_row
where false



    ) dbt_internal_test;

select
      count(*) as failures,
      count(*) != 0 as should_warn,
      count(*) != 0 as should_error
    from (


  with neighbours as (

    select
        *,
        lead(`effective_from`) over (
            partition by `id`
            order by `effective_from`, `effective_to` nulls last
        ) as _scd2_next_from
    from gold.tests_of_a_dimension
),

checked as (
    select
        *,
        case
            when `effective_from` is null then 'has no beginning'
            when `effective_to` is null then 'has no end'
            when `effective_from` >= `effective_to` then 'ends before it begins'
            when
                `effective_to` < _scd2_next_from
                and `is_deleted` = false
                then 'leaves a gap without a deletion'
            when
                _scd2_next_from is null
                and not (`effective_to` <=> timestamp '9999-12-31 00:00:00+00:00')
                and `is_deleted` = false
                then 'ends without a deletion'
            when
                `effective_to` >= _scd2_next_from
                and `is_deleted` = true
                then 'is deleted where the next version begins'
        end as _scd2_problem
    from neighbours
)

select *
from checked
where _scd2_problem is not null



    ) dbt_internal_test;

select
      count(*) as failures,
      count(*) != 0 as should_warn,
      count(*) != 0 as should_error
    from (


  -- 0 failing rows, counted with the other tests of tests_of_a_dimension
select 1 as failing_row
where false



    ) dbt_internal_test;
