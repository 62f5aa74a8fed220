{# A table created from a query inherits the length of each char or varchar column and each column
   default. The length then rejects longer values, a MERGE of padded values fails, and Delta cannot
   create a table with a default. Spark shows both for the columns of a temporary view, but not for
   those of a query. #}

{# Maps the lower-case names of the columns with a length or a default to their full types, for a
   temporary view. #}
{% macro bound_columns(view) %}
    {%- set defaults = [] -%}
    {%- set described = run_query('describe table extended ' ~ view ~ ' as json').rows[0][0] -%}
    {%- for column in fromjson(described).columns if 'default' in column -%}
        {%- do defaults.append(column.name) -%}
    {%- endfor -%}
    {%- set bound = {} -%}
    {%- for row in run_query('describe table ' ~ view)
        if row['col_name'] in defaults or modules.re.search('\\b(var)?char\\(', row['data_type']) -%}
        {%- do bound.update({row['col_name'] | lower: row['data_type']}) -%}
    {%- endfor -%}
    {{- return(bound) -}}
{% endmacro %}


{# The same for any query. #}
{% macro bound_columns_of_query(query) %}
    {%- set view = delta_scd2.backticked('__dbt_bound_' ~ local_md5(this | string)) -%}
    {%- do run_query(create_temporary_view(view, query)) -%}
    {%- set bound = delta_scd2.bound_columns(view) -%}
    {%- do run_query('drop view ' ~ view) -%}
    {{- return(bound) -}}
{% endmacro %}


{# Selects a column without its length and default. A cast to the same type or a `coalesce` would
   keep them. #}
{% macro unbound_column(name, bound) %}
    {%- set quoted = delta_scd2.backticked(name) -%}
    {{- return('if(' ~ quoted ~ ' is null, null, ' ~ quoted ~ ') as ' ~ quoted
        if name | lower in bound else quoted) -}}
{% endmacro %}


{# Wraps a query to drop lengths and defaults; returns it unchanged if its columns have none. #}
{% macro unbound_query(query) %}
    {%- set bound = delta_scd2.bound_columns_of_query(query) -%}
    {%- if not bound -%}
        {{- return(query) -}}
    {%- endif -%}
    {%- set subquery = '(\n' ~ modules.re.sub(';\\s*$', '', query) ~ '\n)' -%}
    {%- set columns = [] -%}
    {%- for column in delta_scd2.columns_of(subquery) -%}
        {%- do columns.append(delta_scd2.unbound_column(column.name, bound)) -%}
    {%- endfor -%}
    {{- return('select\n    ' ~ columns | join(',\n    ') ~ '\nfrom ' ~ subquery) -}}
{% endmacro %}


{# The statements that turn char and varchar columns into strings; Delta cannot change them inside
   arrays, maps and structs. #}
{% macro lengthen_statements(table, bound) %}
    {%- set statements = [] -%}
    {%- for name, type in bound.items() if modules.re.match('(var)?char\\(', type) -%}
        {%- do statements.append('alter table ' ~ table ~ ' alter column '
            ~ delta_scd2.backticked(name) ~ ' type string') -%}
    {%- endfor -%}
    {{- return(statements) -}}
{% endmacro %}
