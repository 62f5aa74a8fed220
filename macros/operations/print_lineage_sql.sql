{% macro print_lineage_sql() %}
    {%- set selects = {} -%}
    {%- for node in delta_scd2.dimension_nodes() -%}
        {%- set columns = delta_scd2._lineage_columns(node) -%}
        {%- set own_columns = delta_scd2._own_columns(node, columns) -%}
        {%- set described = dict(node, columns=columns, own_columns=own_columns) -%}
        {%- do selects.update({node.unique_id: delta_scd2.scd2_lineage_sql(described)}) -%}
    {%- endfor -%}
    {%- do print(tojson(selects)) -%}
{% endmacro %}


{# The columns of the table, or the documented columns if the table does not exist. #}
{% macro _lineage_columns(node) %}
    {%- set table = load_relation(delta_scd2.table_of(node)) -%}
    {%- if table is none -%}
        {{- return(node.columns) -}}
    {%- endif -%}
    {%- set columns = {} -%}
    {%- for column in delta_scd2.columns_of(table) -%}
        {%- do columns.update({column.name: column}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# The columns that have the name under which one of a feed is stored, and that a parent has: a copy
   of the same entity stores the same names. A model that follows a feed stores that of the feed. #}
{% macro _own_columns(node, columns) %}
    {%- set settings = delta_scd2.scd2_config(node) -%}
    {%- set stored = settings.stored_as.values() | map('lower') | list -%}
    {%- set own = [] -%}
    {%- for id in node.depends_on.nodes
        if not settings.follows_feed and columns.keys() | map('lower') | select('in', stored) | list -%}
        {%- set parent = graph.nodes[id] or graph.sources[id] -%}
        {%- set table = load_relation(api.Relation.create(
            schema=parent.schema, identifier=parent.alias or parent.identifier
        )) if parent -%}
        {%- do own.extend(delta_scd2.lower_names(delta_scd2.columns_of(table)) | select('in', stored)) if table -%}
    {%- endfor -%}
    {{- return(own) -}}
{% endmacro %}
