{% macro print_lineage_sql() %}
    {%- set selects = {} -%}
    {%- for node in graph.nodes.values() if node.config.materialized == 'scd2' -%}
        {%- do selects.update({node.unique_id: scd2_lineage_sql(node)}) -%}
    {%- endfor -%}
    {%- do print(tojson(selects)) -%}
{% endmacro %}
