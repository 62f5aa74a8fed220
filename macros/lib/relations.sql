{# The relation of a name `schema.table`. If it does not exist, raises an error that suggests the
   closest existing name. #}
{% macro existing_relation(name) %}
    {%- set parts = name.split('.') -%}
    {%- if parts | length != 2 -%}
        {%- do delta_scd2.raise_refusal(
            '`' ~ name ~ '` names no table',
            'give its schema and its name, as in `silver.customers`'
        ) -%}
    {%- endif -%}
    {%- set relation = load_relation(api.Relation.create(schema=parts[0], identifier=parts[1])) -%}
    {%- if relation is none -%}
        {%- set schemas = run_query('show schemas').columns[0].values() | list -%}
        {%- set meant = delta_scd2._query_meant_table(parts[0], parts[1], schemas) -%}
        {%- do delta_scd2.raise_refusal(
            'there is no table `' ~ name ~ '`' if parts[0] | lower in schemas
                else 'there is no schema `' ~ parts[0] ~ '`',
            'did you mean `' ~ meant ~ '`?' if meant else 'name a table or view that exists'
        ) -%}
    {%- endif -%}
    {{- return(relation) -}}
{% endmacro %}


{# The table that a name may mean: of that schema, with a similar name; or of that name, in another
   schema. #}
{% macro _query_meant_table(schema, name, schemas) %}
    {%- set siblings = run_query('show tables in ' ~ delta_scd2.backticked(schema)).columns['tableName'].values()
        if schema | lower in schemas else [] -%}
    {%- set near = delta_scd2.closest_match(name, siblings) -%}
    {%- if near -%}
        {{- return(schema ~ '.' ~ near) -}}
    {%- endif -%}
    {%- set others = [] -%}
    {%- for other in schemas
        if delta_scd2.query_exists(api.Relation.create(schema=other, identifier=name)) -%}
        {%- do others.append(other) -%}
    {%- endfor -%}
    {{- return((delta_scd2.closest_match(schema, others) or others[0]) ~ '.' ~ name if others else none) -}}
{% endmacro %}


{# Whether a table or view exists now; dbt's own cache dates from the start of the invocation. #}
{% macro query_exists(relation, to_its_end=false) %}
    {%- set sql = 'show tables in ' ~ relation.include(identifier=false) ~ ' like '
        ~ delta_scd2.sql_string(relation.identifier) -%}
    {%- for row in (delta_scd2.run_to_its_end(sql) if to_its_end else run_query(sql))
        if row['tableName'] == relation.identifier | lower and not row['isTemporary'] -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{% endmacro %}


{# The relation of a model's table; the table itself need not exist. #}
{% macro table_of(node) %}
    {{- return(api.Relation.create(schema=node.schema, identifier=node.alias, type='table')) -}}
{% endmacro %}


{# Whether a relation has any row, or any besides a number of them. #}
{% macro query_any_row(relation, besides=0) %}
    {{- return(run_query('select 1 from ' ~ relation ~ ' limit ' ~ (besides + 1)).rows | length > besides) -}}
{% endmacro %}


{# What a row counts, as whole numbers; texts stay texts. #}
{% macro numbers_of(row, absent=none) %}
    {%- set numbers = {} -%}
    {%- for name, value in row.dict().items() -%}
        {%- set known = absent if value is none else value -%}
        {%- do numbers.update({name: known | int if known is number else known}) -%}
    {%- endfor -%}
    {{- return(numbers) -}}
{% endmacro %}


{% macro query_keys(query) %}
    {{- return(run_query(query).columns[0].values() | join('; ')) -}}
{% endmacro %}


{% macro key_text_sql(record, alias=none) %}
    {%- set parts = [] -%}
    {%- for column in record.key_columns -%}
        {%- do parts.append('concat(' ~ delta_scd2.sql_string(column.name ~ ' ')
            ~ ', coalesce(cast(' ~ (alias ~ '.' if alias else '')
            ~ delta_scd2.backticked(column.name) ~ " as string), 'null'))") -%}
    {%- endfor -%}
    {{- return("concat_ws(', ', " ~ parts | join(', ') ~ ')') -}}
{% endmacro %}
