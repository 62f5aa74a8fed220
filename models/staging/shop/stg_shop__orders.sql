with orders as (
    select * from {{ ref('shop_orders') }}
)

select
    order_no,
    region,
    customer_no,
    {{ delta_scd2.strict_cast('ordered_at', 'timestamp') }} as ordered_at,
    {{ delta_scd2.strict_cast('amount', 'decimal(10,2)') }} as amount
from orders
