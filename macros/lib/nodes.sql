{# The shortest name that identifies the model, also for `--select`. #}
{% macro node_address(node) %}
    {%- if node.package_name != project_name -%}
        {{- return(node.fqn | join('.')) -}}
    {%- endif -%}
    {{- return(node.name ~ ('.v' ~ node.version if node.get('version') is not none else '')) -}}
{% endmacro %}


{# The model of the load log, or none: a project that disables it keeps none. #}
{% macro load_log_node() %}
    {%- set logs = graph.nodes.values()
        | selectattr('config.materialized', 'equalto', 'load_log') -%}
    {{- return(logs | first | default(none)) -}}
{% endmacro %}


{# The mistake of a model that makes the table in which another one remembers something. #}
{% macro models_in_the_way(relation, what) %}
    {%- set mistakes = [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in ['model', 'seed', 'snapshot']
            and node.config.materialized != 'ephemeral'
            and [node.schema | lower, node.alias | lower] == [
                relation.schema | lower,
                relation.identifier | lower,
            ] -%}
        {%- do mistakes.append('the model `' ~ node.name ~ '` makes ' ~ relation ~ ', where ' ~ what
            ~ ' are remembered: give one of the two another `alias`') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The variable as dbt reads it in the models of a package: `var` reads it for the package of what
   runs, which is this one in an operation. #}
{% macro var_of_package(package, name, default) %}
    {%- set root = adapter.config -%}
    {%- set scopes = [root.cli_vars] -%}
    {%- for project in [root, root.load_dependencies().get(package, root)] -%}
        {%- do scopes.extend([project.vars.vars.get(package, {}), project.vars.vars]) -%}
    {%- endfor -%}
    {%- for scope in scopes if name in scope -%}
        {{- return(scope[name]) -}}
    {%- endfor -%}
    {{- return(default) -}}
{% endmacro %}
