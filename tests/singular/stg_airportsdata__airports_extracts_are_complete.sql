with expected as (
    select
        to_timestamp(released_on || 'T00:00:00Z') as released_at,
        airports
    from
        values
        ('2021-04-25', 28864),
        ('2022-01-07', 28875),
        ('2023-03-03', 28130),
        ('2024-01-19', 28135),
        ('2025-02-04', 28274)
            as releases (released_on, airports)
),

found as (
    select
        released_at,
        count(*) as airports,
        count(distinct icao) as distinct_airports
    from {{ ref('stg_airportsdata__airports') }}
    group by released_at
)

select
    expected.released_at as expected_release,
    expected.airports as expected_airports,
    found.released_at as found_release,
    found.airports as found_airports,
    found.distinct_airports
from expected
full outer join found on expected.released_at = found.released_at
where
    not expected.airports <=> found.airports
    or not expected.airports <=> found.distinct_airports
