{% macro scd2_node(relation) %}
    {#- A unit test has no graph. -#}
    {%- for node in (graph.nodes or {}).values() if node.resource_type == 'model' and node.relation_name -%}
        {#- A `where` of a test, and `--empty`, wrap the relation in a subquery. -#}
        {%- if modules.re.search('(?<![\\w.])' ~ modules.re.escape(node.relation_name) ~ '(?![\\w.])', relation | string) -%}
            {{- return(node) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return({'name': '', 'config': {}}) -}}
{% endmacro %}
