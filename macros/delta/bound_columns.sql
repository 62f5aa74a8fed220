{# A column of a table hands the length of a char or varchar, and its default, on to every table
   that is made of it. There the length refuses longer values, a MERGE of padded texts fails, and
   Delta creates no table with a default. Where Spark names the columns of a query it shows
   neither; of a temporary view it does. #}

{# The columns of a temporary view that carry a length or a default: their names, in lower case,
   with their whole types. #}
{% macro bound_columns(view) %}
    {%- set defaults = [] -%}
    {%- for column in fromjson(run_query('describe table extended ' ~ view ~ ' as json').rows[0][0]).columns if 'default' in column -%}
        {%- do defaults.append(column.name) -%}
    {%- endfor -%}
    {%- set bound = {} -%}
    {%- for row in run_query('describe table ' ~ view)
        if row['col_name'] in defaults or modules.re.search('\\b(var)?char\\(', row['data_type']) -%}
        {%- do bound.update({row['col_name'] | lower: row['data_type']}) -%}
    {%- endfor -%}
    {{- return(bound) -}}
{% endmacro %}


{# The same of any query. #}
{% macro bound_columns_of_query(query) %}
    {%- set view = delta_scd2.backticked('__dbt_bound_' ~ local_md5(this | string)) -%}
    {%- do run_query(create_temporary_view(view, query)) -%}
    {%- set bound = delta_scd2.bound_columns(view) -%}
    {%- do run_query('drop view ' ~ view) -%}
    {{- return(bound) -}}
{% endmacro %}


{# A column with its values alone. Spark sees through a cast to the same type, and through
   `coalesce`, to what the column carries. #}
{% macro unbound_column(name, bound) %}
    {%- set quoted = delta_scd2.backticked(name) -%}
    {{- return('if(' ~ quoted ~ ' is null, null, ' ~ quoted ~ ') as ' ~ quoted if name | lower in bound else quoted) -}}
{% endmacro %}


{# A query without what its columns carry, and as it is where they carry nothing. #}
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


{# The statements that take the lengths off the texts of a table. Those within arrays, maps and
   structs Delta leaves as they are. #}
{% macro lengthen_statements(table, bound) %}
    {%- set statements = [] -%}
    {%- for name, type in bound.items() if modules.re.match('(var)?char\\(', type) -%}
        {%- do statements.append('alter table ' ~ table ~ ' alter column ' ~ delta_scd2.backticked(name) ~ ' type string') -%}
    {%- endfor -%}
    {{- return(statements) -}}
{% endmacro %}
