{% macro scd2_node(relation) %}
    {%- for node in (graph.nodes or {}).values() if node.resource_type == 'model' and node.relation_name -%}
        {#- A deferred model is read under another name, and the `where` of a test and `--empty`
            wrap the relation in a subquery. -#}
        {%- for name in [node.relation_name, (node.defer_relation or {}).relation_name] if name
            and modules.re.search('(?<![\\w.])' ~ modules.re.escape(name) ~ '(?![\\w.])', relation | string) -%}
            {{- return(node) -}}
        {%- endfor -%}
    {%- endfor -%}
    {{- return({'name': '', 'config': {}}) -}}
{% endmacro %}
