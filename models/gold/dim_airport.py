def model(dbt, session):
    dbt.config(materialized="scd2", unique_key="icao", effective_at="released_at")
    return dbt.ref("stg_airportsdata__airports")
