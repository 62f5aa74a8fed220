{{ config(materialized='load_log', schema='operations') }}

{{ delta_scd2.load_log_sql() }}
