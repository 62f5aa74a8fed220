{% macro py_load_function() -%}
    {%- if flags.EMPTY -%}
        lambda name: spark.table(name).limit(0)
    {%- else -%}
        spark.table
    {%- endif -%}
{%- endmacro %}


{# The user's model, followed by the lines that pass its rows to SQL. #}
{% macro py_register_view(compiled_code, view) %}
{{ compiled_code }}

import dbt_spark_session

dbt_spark_session.to_spark_dataframe(
    model(dbtObj({{ py_load_function() }}), spark), spark
).createOrReplaceTempView({{ view | tojson }})
{% endmacro %}
