{{ config(materialized='load_log', schema='operations') }}

{{ load_log_sql() }}
