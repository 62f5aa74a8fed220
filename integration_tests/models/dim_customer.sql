{{ config(materialized='scd2', unique_key='customer_no', effective_at='extracted_at') }}

select * from {{ ref('stg_customers') }}
