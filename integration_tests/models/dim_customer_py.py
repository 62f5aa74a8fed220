def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="customer_no", effective_at="extracted_at")
    return dbt.ref("customer_extracts")
