{% macro scd2_node(relation) %}
    {#- dbt replaces a macro of a package under the package's name alone; so what a unit test says
        under the plain name is looked up here. -#}
    {%- set overridden = ((model or {}).overrides or {}).macros or {} -%}
    {%- if 'scd2_node' in overridden -%}
        {{- return(overridden.scd2_node) -}}
    {%- endif -%}
    {%- set text = relation | string -%}
    {%- set found = namespace(node={}, at=none) -%}
    {#- A unit test has no graph. Another table than a model has no settings, also if a condition names
        one. -#}
    {%- set nodes = (graph.nodes or {}).values() | list + (graph.sources or {}).values() | list -%}
    {%- for node in nodes
        if node.resource_type in ['model', 'seed', 'snapshot', 'source'] and node.relation_name -%}
        {#- A deferred model is read under another name, and the `where` of a test and `--empty`
            wrap the relation in a subquery, whose condition may read others after it. -#}
        {%- for name in [node.relation_name, (node.defer_relation or {}).relation_name]
            if name and name in text -%}
            {%- set match = modules.re.search(
                '(?<![\\w.])' ~ modules.re.escape(name) ~ '(?![\\w.])', text
            ) -%}
            {%- if match and (found.at is none or match.start() < found.at) -%}
                {%- set found.node, found.at = node, match.start() -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(found.node if found.node.resource_type == 'model' else {'name': '', 'config': {}}) -}}
{% endmacro %}
