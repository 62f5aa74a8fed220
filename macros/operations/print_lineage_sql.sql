{% macro print_lineage_sql() %}
    {%- set selects = {} -%}
    {%- for node in dimension_nodes() -%}
        {%- do selects.update({node.unique_id: scd2_lineage_sql(dict(node, columns=_lineage_columns(node)))}) -%}
    {%- endfor -%}
    {%- do print(tojson(selects)) -%}
{% endmacro %}


{# The columns of the table, or the documented columns if the table does not exist. #}
{% macro _lineage_columns(node) %}
    {%- set table = load_relation(table_of(node)) -%}
    {%- if table is none -%}
        {{- return(node.columns) -}}
    {%- endif -%}
    {%- set columns = {} -%}
    {%- for column in columns_of(table) -%}
        {%- do columns.update({column.name: column}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}
