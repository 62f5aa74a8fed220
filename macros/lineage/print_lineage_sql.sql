{% macro print_lineage_sql() %}
    {%- set selects = {} -%}
    {%- for node in _dimension_nodes() -%}
        {%- do selects.update({node.unique_id: scd2_lineage_sql(dict(node, columns=_lineage_columns(node)))}) -%}
    {%- endfor -%}
    {%- do print(tojson(selects)) -%}
{% endmacro %}


{# The columns that a dimension has, or where it is not built those that are documented. #}
{% macro _lineage_columns(node) %}
    {%- set table = load_relation(_table_of(node)) -%}
    {%- if table is none -%}
        {{- return(node.columns) -}}
    {%- endif -%}
    {%- set columns = {} -%}
    {%- for column in _columns_of(table) -%}
        {%- do columns.update({column.name: column}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}
