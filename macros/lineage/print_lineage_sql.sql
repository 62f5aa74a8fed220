{% macro print_lineage_sql() %}
    {%- set selects = {} -%}
    {%- for node in _dimension_nodes() -%}
        {%- do selects.update({node.unique_id: scd2_lineage_sql(node)}) -%}
    {%- endfor -%}
    {%- do print(tojson(selects)) -%}
{% endmacro %}
