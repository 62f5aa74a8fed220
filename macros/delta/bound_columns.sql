{# A table created from a query inherits the length of each char or varchar column and each column
   default. The length then rejects longer values, a MERGE of padded values fails, and Delta cannot
   create a table with a default. Spark shows both for the columns of a temporary view, but not for
   those of a query. #}

{# The columns of a temporary view, and the full types of those with a length or a default by their
   lower-case names. #}
{% macro describe_view(view) %}
    {%- set columns, bound = delta_scd2._columns_of_view(view), {} -%}
    {%- set printed = delta_scd2._printed_types(view) -%}
    {%- for column in columns -%}
        {#- Matches a type, not a field whose name looks like one. -#}
        {%- do bound.update({column.name | lower: printed[loop.index0]})
            if column.has_default or modules.re.search(
                '(?<![^<:,])(var)?char\\(\\d+\\)(?=[>, ]|$)', printed[loop.index0]
            ) -%}
    {%- endfor -%}
    {{- return({'columns': columns, 'bound': bound}) -}}
{% endmacro %}


{# The same for any query. #}
{% macro describe_query(query) %}
    {%- set view = delta_scd2._view_to_describe(query) -%}
    {%- set described = delta_scd2.describe_view(view) -%}
    {%- do run_query('drop view ' ~ view) -%}
    {{- return(described) -}}
{% endmacro %}


{% macro columns_of(relation) %}
    {%- set view = delta_scd2._view_to_describe('select * from ' ~ relation) -%}
    {%- set columns = delta_scd2._columns_of_view(view) -%}
    {%- do run_query('drop view ' ~ view) -%}
    {{- return(columns) -}}
{% endmacro %}


{# A view for this thread: several may render one ephemeral model at the same time. #}
{% macro _view_to_describe(query) %}
    {%- set caller = (this if this is defined else '') ~ thread_id -%}
    {%- set view = delta_scd2.backticked('__dbt_bound_' ~ local_md5(caller)) -%}
    {%- do run_query(create_temporary_view(view, query)) -%}
    {{- return(view) -}}
{% endmacro %}


{# With their exact types, but without lengths. #}
{% macro _columns_of_view(view) %}
    {%- set columns = [] -%}
    {%- set described = run_query('describe table extended ' ~ view ~ ' as json').rows[0][0] -%}
    {%- for column in fromjson(described).columns -%}
        {%- do columns.append({
            'name': column.name,
            'data_type': delta_scd2.described_type(column.type),
            'has_default': 'default' in column,
        }) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# The types as Spark prints them, with lengths. By default, it leaves out all but 25 fields of a
   struct. #}
{% macro _printed_types(view) %}
    {%- set describe_sql = 'describe table ' ~ view -%}
    {%- set types = run_query(describe_sql).columns['data_type'].values() | list -%}
    {%- if modules.re.search('[.]{3} [0-9]+ more fields', types | join(' ')) -%}
        {%- do run_query('set `spark.sql.debug.maxToStringFields` = `10000`') -%}
        {%- set types = run_query(describe_sql).columns['data_type'].values() | list -%}
    {%- endif -%}
    {{- return(types) -}}
{% endmacro %}


{# Selects a column without its length and default. A cast to the same type or a `coalesce` would
   keep them. #}
{% macro unbound_column(name, bound) %}
    {%- set quoted = delta_scd2.backticked(name) -%}
    {{- return('if(' ~ quoted ~ ' is null, null, ' ~ quoted ~ ') as ' ~ quoted
        if name | lower in bound else quoted) -}}
{% endmacro %}


{# Wraps a query to drop lengths and defaults; returns it unchanged if its columns have none. #}
{% macro unbound_query(query, described=none) %}
    {%- set described = described or delta_scd2.describe_query(query) -%}
    {%- if not described.bound -%}
        {{- return(query) -}}
    {%- endif -%}
    {%- set subquery = '(\n' ~ modules.re.sub(';\\s*$', '', query) ~ '\n)' -%}
    {%- set columns = [] -%}
    {%- for column in described.columns -%}
        {%- do columns.append(delta_scd2.unbound_column(column.name, described.bound)) -%}
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
