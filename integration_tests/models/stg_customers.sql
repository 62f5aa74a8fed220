{{ config(materialized='view') }}

select
    *,
    {{ delta_scd2.hash_key({'customer_no': 'string'}) }} as customer_hk
from {{ ref('customer_extracts') }}
