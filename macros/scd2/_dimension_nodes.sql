{% macro _dimension_nodes() %}
    {{- return(graph.nodes.values() | selectattr('config.materialized', 'equalto', 'scd2') | list) -}}
{% endmacro %}


{# The node of a name; one that is no dimension is refused with the nearest that is. #}
{% macro _dimension_node(name) %}
    {%- set nodes = _dimension_nodes() -%}
    {%- set node = nodes | selectattr('name', 'equalto', name) | first -%}
    {%- if not node -%}
        {%- set near = _closest(name, nodes | map(attribute='name') | list) -%}
        {%- do _refuse('`' ~ name ~ '` is no model of the materialization `scd2`',
            'did you mean `' ~ near ~ '`?' if near else 'name one with `model`') -%}
    {%- endif -%}
    {{- return(node) -}}
{% endmacro %}
