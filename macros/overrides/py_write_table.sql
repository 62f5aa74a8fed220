{#- For Python models, dbt-spark 1.11 ignores partition_by, tblproperties, location_root and
    comments. Other submission methods keep dbt-spark's code. -#}
{% macro py_write_table(compiled_code, target_relation) %}
{%- set method = config.get('submission_method', adapter.config.credentials.method) -%}
{%- if method != 'session' -%}
    {{ return(dbt.py_write_table(compiled_code, target_relation)) }}
{%- endif -%}
{%- set view = delta_scd2.session_view(target_relation, 'python') -%}
{{ compiled_code }}

import json as _dbt_json

import dbt_spark_session

dbt = dbtObj({{ delta_scd2.py_load_function() }})
# JSON in string literals, because Python reads the surrogate pairs of JSON as two characters
dbt_spark_session.write_table(
    dbt_spark_session.to_spark_dataframe(model(dbt, spark), spark),
    "{{ view }}",
    _dbt_json.loads({{ delta_scd2._py_create_statements(target_relation, view) | tojson | tojson }}),
    _dbt_json.loads({{ delta_scd2._py_feature_statements(target_relation) | tojson | tojson }}),
)
{% endmacro %}


{% macro _py_create_statements(relation, view) %}
    {%- set query = 'select * from `' ~ view ~ '`' -%}
    {%- set format = config.get('file_format') or 'delta' -%}
    {%- if relation.identifier == this.identifier -%}
        {%- set create_sql = create_table_as(False, relation, query) | trim -%}
        {#- Without a format, dbt-spark writes SQL models as Spark does by default, Python models as
            Delta tables. -#}
        {%- set head = 'create table ' ~ relation -%}
        {{ return([create_sql if config.get('file_format')
            else create_sql | replace(head, head ~ '\nusing ' ~ format, 1)]) }}
    {%- endif -%}
    {#- The temporary table of an incremental run has no clauses: location_root would point it at
        the target's own files. -#}
    {{ return([
        'drop table if exists ' ~ relation,
        'create table ' ~ relation ~ ' using ' ~ format ~ ' as ' ~ query,
    ]) }}
{% endmacro %}


{# By column type, the statement that gives an existing table the feature that Delta requires for it. #}
{% macro _py_feature_statements(relation) %}
    {%- set existing = load_cached_relation(relation) -%}
    {%- set statements = {} -%}
    {%- if existing is not none and existing.is_delta and config.get('file_format') == 'delta' -%}
        {%- for type in delta_scd2.types_with_features() -%}
            {%- do statements.update({
                type: delta_scd2._feature_statements(existing, [{'data_type': type}]) | first
            }) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(statements) -}}
{% endmacro %}
