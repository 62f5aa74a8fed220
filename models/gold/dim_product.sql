{{ config(
    materialized='scd2',
    source_kind='changelog',
    unique_key='product_no',
    effective_at='_commit_timestamp',
    sequence_by='_commit_version',
) }}

{{ delta_scd2.changes_since_last_run(ref('shop_products')) }}
