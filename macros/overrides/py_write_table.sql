{#- For Python models, dbt-spark 1.11 ignores partition_by, tblproperties, location_root and
    comments. Other submission methods keep dbt-spark's code. -#}
{% macro py_write_table(compiled_code, target_relation) %}
{%- set method = config.get('submission_method', adapter.config.credentials.method) -%}
{%- if method != 'session' -%}
    {{ return(dbt.py_write_table(compiled_code, target_relation)) }}
{%- endif -%}
{%- set view = delta_scd2.session_view(target_relation, 'python') -%}
{{ compiled_code }}

import json

import dbt_spark_session

dbt = dbtObj({{ delta_scd2.py_load_function() }})
dbt_spark_session.to_spark_dataframe(model(dbt, spark), spark).createOrReplaceTempView("{{ view }}")
try:
    # JSON in a string literal, because Python reads the surrogate pairs of JSON as two characters
    for statement in json.loads({{ delta_scd2._py_create_statements(target_relation, view) | tojson | tojson }}):
        spark.sql(statement)
finally:
    spark.catalog.dropTempView("{{ view }}")
{% endmacro %}


{% macro _py_create_statements(relation, view) %}
    {%- set query = 'select * from `' ~ view ~ '`' -%}
    {%- if relation.identifier == this.identifier -%}
        {{ return([create_table_as(False, relation, query) | trim]) }}
    {%- endif -%}
    {#- The temporary table of an incremental run has no clauses: location_root would point it at
        the target's own files. -#}
    {{ return([
        'drop table if exists ' ~ relation,
        'create table ' ~ relation ~ ' using ' ~ config.get('file_format', 'delta') ~ ' as ' ~ query,
    ]) }}
{% endmacro %}
