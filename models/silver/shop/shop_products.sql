{{ config(
    materialized='scd1',
    unique_key='product_no',
    change_type='operation',
    change_ordinal='change_no',
    tblproperties={'delta.enableChangeDataFeed': 'true'},
) }}

with changes as (
    select
        change_no,
        operation,
        product_no,
        name,
        category,
        cast(price as decimal(10, 2)) as price
    from {{ ref('shop_product_changes') }}
    {%- if load_relation(this) is none %}
    -- the next run reads the second day
    where changed_on < '2024-03-02'
    {%- endif %}
)

{{ delta_scd2.latest_changes('changes', 'product_no', change_type='operation', change_ordinal='change_no') }}
