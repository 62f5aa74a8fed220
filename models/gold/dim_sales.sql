{{ config(
    materialized='scd2',
    unique_key='DimId',
    effective_at='extracted_at',
    hard_deletes='soft_delete',
    surrogate_key='sequence',
    flag_values=['Y', 'N'],
    open_end='2999-12-31',
    scd2_columns={
        'surrogate_key': 'SurrogateKey',
        'durable_key': 'DurableKey',
        'hash_diff': 'Hash',
        'effective_from': 'EffectiveDate',
        'effective_to': 'ExpiryDate',
        'is_current': 'CurrentFlag',
        'is_deleted': 'DeletedFlag',
    },
) }}

select
    `DimId`,
    `Col1`,
    `Col2`,
    `Col3`,
    extracted_at
from {{ ref('stg_shop__sales') }}
