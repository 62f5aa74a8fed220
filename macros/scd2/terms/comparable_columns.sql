{# The comparable columns of a row, without its key and the listed others. #}
{% macro comparable_columns_but(load, others) %}
    {%- set left_out = delta_scd2.lower_names(load.key_columns + others)
        + delta_scd2.as_list(load.settings.inferred_member) | map('lower') | list -%}
    {%- set columns = [] -%}
    {%- for column in delta_scd2.hashable_columns(load.kept_columns) if column.name | lower not in left_out -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}
