{% macro register_tables() %}
    {%- set registered = [] -%}
    {%- for table in delta_scd2._tables_of_the_project() if load_relation(table.relation) is none -%}
        {%- set directory = delta_scd2.lost_table(table.relation, table.location_root) -%}
        {%- if directory -%}
            {%- do adapter.create_schema(table.relation) -%}
            {%- do run_query('create table ' ~ table.relation ~ ' using delta location '
                ~ delta_scd2.sql_string(directory)) -%}
            {%- do registered.append(table.relation) -%}
            {%- do print('registered ' ~ table.relation ~ ' at ' ~ directory) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do print(registered | length ~ ' table(s) registered.') -%}
{% endmacro %}


{# The tables that dbt builds and the sources it reads, each with its `location_root` if
   configured. One table can be a model of one project and a source of another. #}
{% macro _tables_of_the_project() %}
    {%- set tables = [] -%}
    {%- for node in graph.nodes.values() if node.resource_type in ['model', 'seed', 'snapshot']
        and node.config.materialized not in ['view', 'ephemeral'] -%}
        {%- set relation = delta_scd2.table_of(node) -%}
        {%- do tables.append(delta_scd2._table_in(relation, node.config.get('location_root'))) -%}
        {%- set events = delta_scd2.event_log_relation(delta_scd2.scd2_config(node), relation)
            if node.config.materialized == 'scd2' -%}
        {%- do tables.append(delta_scd2._table_in(events)) if events -%}
        {%- do tables.append(delta_scd2._table_in(delta_scd2.ordinals_relation(relation)))
            if node.config.materialized == 'scd1' -%}
    {%- endfor -%}
    {%- for node in graph.sources.values() -%}
        {%- do tables.append(delta_scd2._table_in(
            api.Relation.create(schema=node.schema, identifier=node.identifier)
        )) -%}
    {%- endfor -%}
    {{- return(tables | unique(attribute='name') | list) -}}
{% endmacro %}


{% macro _table_in(relation, location_root=none) %}
    {{- return({
        'name': relation | string | lower,
        'relation': relation,
        'location_root': location_root,
    }) -}}
{% endmacro %}
