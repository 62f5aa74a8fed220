{{ config(
    materialized='scd2',
    unique_key=['region', 'customer_no'],
    effective_at='extracted_at',
    hard_deletes='invalidate',
    closing_gap='1 millisecond',
    open_end='9999-12-31 23:59:59.999',
    flag_values=[1, 0],
    scd2_columns={'effective_from': 'effective_ts', 'effective_to': 'expiry_ts'},
) }}

select * from {{ ref('stg_crm__customers') }}
