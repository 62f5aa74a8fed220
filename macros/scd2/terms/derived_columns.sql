{# The columns that a dimension keeps on request, computed from the row of a version. `stored_sql` is
   what a stored version has there, which it reads from the column if that is maintained. #}
{% macro derived_columns(load) %}
    {%- set columns = [] -%}
    {%- set state_hash = load.settings.columns.state_hash -%}
    {%- do columns.append({
        'role': 'state_hash',
        'name': state_hash,
        'data_type': 'bigint',
        'sql': delta_scd2.state_hash_sql(load),
        'stored_sql': delta_scd2.stored_state_hash(load),
        'is_maintained': load.has_state_hash,
    }) if state_hash -%}
    {{- return(columns) -}}
{% endmacro %}
