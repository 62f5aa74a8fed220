{% snapshot snap_airports %}
{{
    config(
        unique_key='icao',
        strategy='check',
        check_cols=['hash_diff'],
        hard_deletes='invalidate',
    )
}}

with airports as (
    select * from {{ ref('stg_airportsdata__airports') }}
),

newest as (
    select max(released_at) as released_at from airports
)

select
    airports.airport_hk,
    airports.icao,
    airports.iata,
    airports.lid,
    airports.name,
    airports.city,
    airports.subdivision,
    airports.country_code,
    airports.elevation_ft,
    airports.latitude,
    airports.longitude,
    airports.time_zone,
    airports.released_at,
    airports.hash_diff
from airports
inner join newest on airports.released_at = newest.released_at

{% endsnapshot %}
