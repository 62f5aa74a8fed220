{% macro load_airports() %}
    {%- set declared = source('airportsdata', 'airports') -%}
    {#- Under `--empty`, the relation of `source` renders as an empty subquery. -#}
    {%- set airports = api.Relation.create(schema=declared.schema, identifier=declared.identifier) -%}
    {%- if execute -%}
        {%- do adapter.create_schema(airports) -%}
        {#- Even `create table if not exists` opens every file to read its header. -#}
        {%- if load_relation(airports) is none -%}
            {%- do delta_scd2.check_lost_table(airports) -%}
            {%- do run_query(delta_scd2.airports_table_sql(
                airports, invocation_args_dict.project_dir ~ '/data/airportsdata'
            )) -%}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}
