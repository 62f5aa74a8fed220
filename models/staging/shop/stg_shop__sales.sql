with renamed as (
    select
        dim_id as `DimId`,
        col1 as `Col1`,
        col2 as `Col2`,
        col3 as `Col3`,
        cast(extracted_on as timestamp) as extracted_at
    from {{ ref('shop_sales_extracts') }}
)

select
    {{ delta_scd2.hash_key({'DimId': 'string'}) }} as sales_hk,
    *
from renamed
