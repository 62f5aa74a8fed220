{# The directory of a Delta table at the location where `relation` would be created, or none. If the
   catalog was lost, the files remain, and `create or replace` would start a new history over the
   old one. #}
{% macro lost_table(relation, location_root) %}
    {%- set directory = location_root ~ '/' ~ relation.identifier if location_root
        else delta_scd2.schema_location(relation.schema) ~ '/' ~ relation.identifier | lower -%}
    {{- return(directory
        if delta_scd2.run_script(delta_scd2._is_delta_sql(directory)).rows[0]['is_delta']
            else none) -}}
{% endmacro %}


{# A script with a handler, because a query on a directory without a table fails and Jinja cannot
   catch errors. #}
{% macro _is_delta_sql(directory) -%}
begin
    declare exit handler for sqlstate '42P01' select false as is_delta;
    show tblproperties delta.{{ delta_scd2.backticked(directory) }};
    select true as is_delta;
end
{%- endmacro %}


{# The location of a schema, or its default location if it does not exist. #}
{% macro schema_location(schema) %}
    {#- The catalog lists schemas in lower case, and dbt compares the names as they are. -#}
    {%- if not adapter.check_schema_exists(none, schema | lower) -%}
        {%- set warehouse = run_query('set `spark.sql.warehouse.dir`').rows[0]['value'] -%}
        {%- if warehouse.endswith('(redacted)') -%}
            {%- do delta_scd2.raise_refusal(
                'Spark hides the location of its warehouse, which has a word such as url or token, '
                    ~ 'and so the location of tables of ' ~ schema,
                'make the schema with `create schema ' ~ schema ~ '`, and run this again'
            ) -%}
        {%- endif -%}
        {{- return(warehouse ~ '/' ~ schema | lower ~ '.db') -}}
    {%- endif -%}
    {%- for row in run_query('describe schema ' ~ delta_scd2.backticked(schema))
        if row['info_name'] == 'Location' -%}
        {#- Spark returns a URI, but `delta.` expects a path. #}
        {%- set uri = row['info_value'] -%}
        {%- set as_form = "replace(" ~ delta_scd2.sql_string(uri) ~ ", '+', '%2B')" -%}
        {{- return(run_query('select url_decode(' ~ as_form ~ ') as path').rows[0]['path']
            if '%' in uri else uri) -}}
    {%- endfor -%}
{% endmacro %}


{% macro check_lost_table(relation, location_root=none) %}
    {%- set directory = delta_scd2.lost_table(relation, location_root) -%}
    {%- if directory -%}
        {%- do delta_scd2.raise_refusal(
            'the catalog knows no table ' ~ relation
                ~ ', while a Delta table with a history of its own lies in its place, ' ~ directory,
            'bring back all tables that the catalog lost with `dbt run-operation register_tables`; '
                ~ 'or, if nobody needs that history, remove the directory'
        ) -%}
    {%- endif -%}
{% endmacro %}
