{{ config(
    materialized='scd2',
    unique_key='icao',
    effective_at='released_at',
    scd2_columns={'surrogate_key': 'airport_sk', 'durable_key': 'airport_hk'},
) }}

select * from {{ ref('stg_airportsdata__airports') }}
