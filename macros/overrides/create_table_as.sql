{#- dbt-spark 1.11 creates a table with the lengths and defaults that its columns inherit. Seeds
    have none, and Python models have already dropped them. -#}
{% macro spark__create_table_as(temporary, relation, compiled_code, language='sql') %}
    {%- if model.resource_type in ['model', 'snapshot'] and model.language == 'sql' -%}
        {%- set described = delta_scd2.describe_query(compiled_code) -%}
        {%- set compiled_code = delta_scd2.unbound_query(compiled_code, described) -%}
        {%- set existing = load_cached_relation(relation) if not temporary else none -%}
        {%- if existing is not none and existing.is_delta and config.get('file_format') == 'delta' -%}
            {%- do delta_scd2._add_features(existing, described.columns) -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(dbt.spark__create_table_as(temporary, relation, compiled_code, language)) }}
{% endmacro %}


{#- Delta cannot replace a table with one that requires an additional table feature. -#}
{% macro _add_features(existing, columns) %}
    {%- for statement_sql in delta_scd2._feature_statements(existing, columns) -%}
        {%- do run_query(statement_sql) -%}
    {%- endfor -%}
{% endmacro %}


{% macro _feature_statements(existing, columns) %}
    {%- set statements = [] -%}
    {%- for name, value in delta_scd2.feature_properties(columns).items() -%}
        {%- do statements.append('alter table ' ~ existing ~ ' set tblproperties ('
            ~ delta_scd2.sql_string(name) ~ ' = ' ~ delta_scd2.sql_string(value) ~ ')') -%}
    {%- endfor -%}
    {{- return(statements) -}}
{% endmacro %}


{#- The view that a snapshot is merged from has the columns of its source, with their lengths and
    defaults. -#}
{% macro spark__snapshot_merge_sql(target, source, insert_cols) %}
    {%- if target.is_iceberg -%}
        {#- There it needs the name of the view. -#}
        {{ return(dbt.spark__snapshot_merge_sql(target, source, insert_cols)) }}
    {%- endif -%}
    {%- set rows = '(\n' ~ delta_scd2.unbound_query('select * from ' ~ source) ~ '\n)' -%}
    {{ return(dbt.spark__snapshot_merge_sql(target, rows, insert_cols)) }}
{% endmacro %}
