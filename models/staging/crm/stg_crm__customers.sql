with renamed as (
    select
        region,
        customer_no,
        name,
        extracted_at
    from {{ ref('crm_customer_extracts') }}
)

select
    {{ delta_scd2.hash_key(['region', 'customer_no']) }} as customer_hk,
    *
from renamed
