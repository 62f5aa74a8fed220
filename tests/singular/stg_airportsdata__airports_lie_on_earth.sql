select
    icao,
    released_at,
    country_code,
    elevation_ft,
    latitude,
    longitude
from {{ ref('stg_airportsdata__airports') }}
where
    not coalesce(
        latitude between -90 and 90
        and longitude between -180 and 180
        -- from the shore of the Dead Sea to above the highest airport
        and elevation_ft between -1500 and 16000
        and country_code rlike '^[A-Z]{2}$',
        false
    )
