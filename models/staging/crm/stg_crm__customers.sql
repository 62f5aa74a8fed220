with renamed as (
    select
        region,
        customer_no,
        name,
        extracted_at
    from {{ ref('crm_customer_extracts') }}
)

select
    {{ hash_key(['region', 'customer_no']) }} as customer_hk,
    *
from renamed
