{# The shortest name that identifies the model, also for `--select`. #}
{% macro node_address(node) %}
    {%- if node.package_name != project_name -%}
        {{- return(node.fqn | join('.')) -}}
    {%- endif -%}
    {{- return(node.name ~ ('.v' ~ node.version if node.get('version') is not none else '')) -}}
{% endmacro %}
