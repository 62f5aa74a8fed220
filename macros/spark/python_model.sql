{#- Under --empty and --sample dbt-core 1.11 hands a source over as a subquery, which spark.table
    cannot read; a ref comes as a plain name. -#}
{% macro py_load_function() -%}
    {%- if flags.EMPTY -%}
        lambda name: spark.sql("select * from " + name).limit(0)
    {%- elif invocation_args_dict.get('sample') -%}
        lambda name: spark.sql("select * from " + name)
    {%- else -%}
        spark.table
    {%- endif -%}
{%- endmacro %}


{# The user's model, followed by the lines that pass its rows to SQL. #}
{% macro py_register_view(compiled_code, view) %}
{%- do delta_scd2.check_python_target() -%}
{{ compiled_code }}

import dbt_spark_session

dbt_spark_session.to_spark_dataframe(
    model(dbtObj({{ delta_scd2.py_load_function() }}), spark), spark, keeps_padding=True
).createOrReplaceTempView({{ view | tojson }})
{% endmacro %}
