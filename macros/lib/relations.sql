{# By default Spark truncates the printed type of a struct after 25 fields. #}
{% macro print_whole_types() %}
    {%- do run_query('set `spark.sql.debug.maxToStringFields` = `10000`') -%}
{% endmacro %}


{% macro columns_of(relation) %}
    {%- do delta_scd2.print_whole_types() -%}
    {%- set columns = [] -%}
    {%- for row in run_query('describe query select * from ' ~ relation) -%}
        {%- do columns.append(delta_scd2.column_described_by(row)) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# The column of a row of `describe`. A setting of the profile may still shorten its type, which a
   dimension or a copy compares with that of its table. #}
{% macro column_described_by(row) %}
    {%- if model is defined and model.config.materialized in ['scd1', 'scd2']
        and modules.re.search('[.]{3} [0-9]+ more fields', row['data_type']) -%}
        {%- do delta_scd2.raise_refusal(
            'Spark shortens the type of the column `' ~ row['col_name'] ~ '`',
            'take `spark.sql.debug.maxToStringFields` out of the profile'
        ) -%}
    {%- endif -%}
    {{- return({
        'name': row['col_name'],
        'data_type': delta_scd2.quote_struct_fields(row['data_type']),
    }) -}}
{% endmacro %}


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
        {%- set is_schema = parts[0] | lower in schemas -%}
        {%- set siblings = run_query('show tables in '
            ~ delta_scd2.backticked(parts[0])).columns['tableName'].values()
            if is_schema else [] -%}
        {%- set near = delta_scd2.closest_match(parts[1], siblings) if is_schema
            else delta_scd2.closest_match(parts[0], schemas) -%}
        {%- set meant = parts[0] ~ '.' ~ near if is_schema else near ~ '.' ~ parts[1] -%}
        {%- do delta_scd2.raise_refusal(
            'there is no table `' ~ name ~ '`' if is_schema
                else 'there is no schema `' ~ parts[0] ~ '`',
            'did you mean `' ~ meant ~ '`?' if near else 'name a table or view that exists'
        ) -%}
    {%- endif -%}
    {{- return(relation) -}}
{% endmacro %}


{# Whether a table or view exists now; dbt's own cache dates from the start of the invocation. #}
{% macro look_up_in_catalog(relation) %}
    {%- set like = delta_scd2.sql_string(relation.identifier) -%}
    {%- for row in run_query('show tables in ' ~ relation.include(identifier=false) ~ ' like ' ~ like)
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


{% macro key_text_sql(dimension, alias=none) %}
    {%- set parts = [] -%}
    {%- for column in dimension.key_columns -%}
        {%- do parts.append('concat(' ~ delta_scd2.sql_string(column.name ~ ' ')
            ~ ', coalesce(cast(' ~ (alias ~ '.' if alias else '')
            ~ delta_scd2.backticked(column.name) ~ " as string), 'null'))") -%}
    {%- endfor -%}
    {{- return("concat_ws(', ', " ~ parts | join(', ') ~ ')') -}}
{% endmacro %}
