{{ config(materialized='load_log') }}

{{ load_log_sql() }}
