{% macro dimension_nodes() %}
    {{- return(graph.nodes.values() | selectattr('config.materialized', 'equalto', 'scd2') | list) -}}
{% endmacro %}


{# The dimension with a name that `ref` or dbt selection accepts. For any other name, raises an
   error that suggests the closest one. #}
{% macro dimension_node(name, v=none) %}
    {%- set address = name if v is none else name ~ '.v' ~ v -%}
    {%- set found = delta_scd2.named_dimensions(address) -%}
    {%- if not found -%}
        {%- set addresses = delta_scd2.node_addresses(delta_scd2.dimension_nodes()) -%}
        {%- set near = delta_scd2.closest_match(address, addresses) -%}
        {%- do delta_scd2.raise_refusal('`' ~ address ~ '` is not a model of the materialization `scd2`',
            'did you mean `' ~ near ~ '`?' if near
                else 'name one of them: ' ~ (delta_scd2.listed(addresses) or 'there are none')) -%}
    {%- elif found | length > 1 -%}
        {%- do delta_scd2.raise_refusal('`' ~ address ~ '` names several models',
            'name one of them: ' ~ delta_scd2.node_addresses(found) | join(', ')) -%}
    {%- endif -%}
    {{- return(found[0]) -}}
{% endmacro %}


{# The same; raises an error if it has no table. #}
{% macro built_dimension_node(name, v=none) %}
    {%- set node = delta_scd2.dimension_node(name, v) -%}
    {%- if load_relation(delta_scd2.table_of(node)) is none -%}
        {%- set address = delta_scd2.node_address(node) -%}
        {%- do delta_scd2.raise_refusal(
            address ~ ' has no table', 'build it with `dbt build --select ' ~ address ~ '`'
        ) -%}
    {%- endif -%}
    {{- return(node) -}}
{% endmacro %}


{# The dimensions that match a name. It may be a unique id or a name printed by `dbt ls`, or a model
   name with or without package and version. Defaults are the latest version, and this project's
   model over those of packages. #}
{% macro named_dimensions(address) %}
    {%- set printed = [] -%}
    {%- set named = [] -%}
    {%- for node in delta_scd2.dimension_nodes() -%}
        {%- do printed.append(node) if address in [node.unique_id, node.fqn | join('.')] -%}
        {%- for name in delta_scd2._names_of_node(node)
            if address in [name, node.package_name ~ '.' ~ name] -%}
            {%- do named.append(node) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set own = named | selectattr('package_name', 'equalto', project_name) | list -%}
    {{- return(printed or own or named) -}}
{% endmacro %}


{% macro _names_of_node(node) %}
    {%- if node.get('version') is none -%}
        {{- return([node.name]) -}}
    {%- endif -%}
    {%- set versioned = [node.name ~ '.v' ~ node.version, node.name ~ '_v' ~ node.version] -%}
    {{- return(versioned + ([node.name] if node.version == node.latest_version else [])) -}}
{% endmacro %}


{% macro node_addresses(nodes) %}
    {%- set addresses = [] -%}
    {%- for node in nodes -%}
        {%- do addresses.append(delta_scd2.node_address(node)) -%}
    {%- endfor -%}
    {{- return(addresses | sort) -}}
{% endmacro %}
