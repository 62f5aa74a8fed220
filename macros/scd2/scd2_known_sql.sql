{# What a table of the dimension holds about the keys that the rows of the model speak of. #}
{% macro scd2_known_sql(dimension, table) %}
    {%- set key = _backticked(dimension.settings.columns.durable_key) -%}
select *
from {{ table }}
where
    {{ key }} in (select {{ key }} from {{ dimension.extract }})
    {%- for bound in dimension.bounds %}
    and {{ bound }}
    {%- endfor %}
{% endmacro %}


{# Least and greatest value of each part of the business key. Nulls, which the guards refuse, have no place in an order. #}
{% macro _key_range_sql(dimension, columns) %}
select
    {%- for column in columns %}
    cast(min({{ _backticked(column.name) }}) as string) as least_{{ loop.index }},
    cast(max({{ _backticked(column.name) }}) as string) as greatest_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ dimension.extract }}
{% endmacro %}


{# The same as conditions. A list of keys would not let Delta pass over files, literals do. #}
{% macro _key_bounds(dimension) %}
    {%- set columns = dimension.key_columns | selectattr('data_type', 'in', ['tinyint', 'smallint', 'int', 'bigint', 'date', 'string']) | list -%}
    {%- set range = run_query(_key_range_sql(dimension, columns)).rows[0] if columns -%}
    {%- set bounds = [] -%}
    {%- for column in columns -%}
        {%- set least, greatest = range['least_' ~ loop.index], range['greatest_' ~ loop.index] -%}
        {%- do bounds.append(
            _backticked(column.name) ~ ' between ' ~ _literal(column.data_type, least) ~ ' and ' ~ _literal(column.data_type, greatest)
        ) if least is not none -%}
    {%- endfor -%}
    {{- return(bounds) -}}
{% endmacro %}


{# Of exactly that type, since a cast literal lets no file be passed over. #}
{% macro _literal(data_type, text) %}
    {%- if data_type in ['date', 'string'] -%}
        {{- return(('date ' if data_type == 'date' else '') ~ _sql_string(text)) -}}
    {%- endif -%}
    {{- return(text ~ {'tinyint': 'Y', 'smallint': 'S', 'int': '', 'bigint': 'L'}[data_type]) -}}
{% endmacro %}
