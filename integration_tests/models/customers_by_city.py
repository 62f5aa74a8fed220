def model(dbt, session):
    dbt.config(materialized="table")
    customers = dbt.ref("dim_customer").where("is_current and not is_deleted")
    return customers.groupBy("city").count().toPandas()
