{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='order_no',
) }}

with orders as (
    {{ delta_scd2.as_of_join(ref('stg_shop__orders'), ref('dim_customer'), 'ordered_at') | indent }}
)

select
    order_no,
    customer_sk,
    region,
    customer_no,
    ordered_at,
    amount
from orders
{% if is_incremental() %}
-- new orders, and orders of which a value changed
except
select
    order_no,
    customer_sk,
    region,
    customer_no,
    ordered_at,
    amount
from {{ this }}
{% endif %}
