{% macro print_lineage_sql() %}
    {%- set selects = {} -%}
    {%- for node in delta_scd2.dimension_nodes() -%}
        {%- set described = dict(node, columns=delta_scd2._lineage_columns(node)) -%}
        {%- do selects.update({node.unique_id: delta_scd2.scd2_lineage_sql(described)}) -%}
    {%- endfor -%}
    {%- do print(tojson(selects)) -%}
{% endmacro %}


{# The columns of the table, or the documented columns if the table does not exist. #}
{% macro _lineage_columns(node) %}
    {%- set table = load_relation(delta_scd2.table_of(node)) -%}
    {%- if table is none -%}
        {{- return(node.columns) -}}
    {%- endif -%}
    {%- set columns = {} -%}
    {%- for column in delta_scd2.columns_of(table) -%}
        {%- do columns.update({column.name: column}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}
