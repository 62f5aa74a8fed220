with airports as (
    select * from {{ source('airportsdata', 'airports') }}
),

typed as (
    select
        nullif(trim(icao), '') as icao,
        nullif(trim(iata), '') as iata,
        nullif(trim(lid), '') as lid,
        nullif(trim(name), '') as name,
        nullif(trim(city), '') as city,
        nullif(trim(subd), '') as subdivision,
        nullif(trim(country), '') as country_code,
        {{ delta_scd2.strict_cast('elevation', 'decimal(6,1)', rounds=true) }} as elevation_ft,
        -- Five decimals (about a metre) are the precision of the 2025 release; half is rounded up.
        {{ delta_scd2.strict_cast('lat', 'decimal(8,5)', rounds=true) }} as latitude,
        {{ delta_scd2.strict_cast('lon', 'decimal(8,5)', rounds=true) }} as longitude,
        nullif(trim(tz), '') as time_zone,
        to_timestamp(released_on || 'T00:00:00Z') as released_at
    from airports
)

select
    {{ delta_scd2.hash_key(['icao']) }} as airport_hk,
    *,
    {{ delta_scd2.hash_diff([
        'iata',
        'lid',
        'name',
        'city',
        'subdivision',
        'country_code',
        'elevation_ft',
        'latitude',
        'longitude',
        'time_zone',
    ]) }} as hash_diff
from typed
