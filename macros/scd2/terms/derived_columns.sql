{# The columns that a dimension keeps on request, computed from the row of a version. #}
{% macro derived_columns(load) %}
    {%- set columns = [] -%}
    {%- set state_hash = load.settings.columns.state_hash -%}
    {%- do columns.append({
        'role': 'state_hash',
        'name': state_hash,
        'data_type': 'bigint',
        'sql': delta_scd2.state_hash_sql(load),
    }) if state_hash -%}
    {{- return(columns) -}}
{% endmacro %}
