{# What a table of the dimension holds about the keys that the rows of the model speak of. #}
{% macro _stored_of_batch_sql(dimension, table) %}
    {%- set key = backticked(dimension.settings.columns.durable_key) -%}
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
    cast(min({{ backticked(column.name) }}) as string) as least_{{ loop.index }},
    cast(max({{ backticked(column.name) }}) as string) as greatest_{{ loop.index }}{{ ',' if not loop.last }}
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
            backticked(column.name) ~ ' between ' ~ typed_literal(column.data_type, least) ~ ' and ' ~ typed_literal(column.data_type, greatest)
        ) if least is not none -%}
    {%- endfor -%}
    {{- return(bounds) -}}
{% endmacro %}


{# What rows of single keys are checked against, and laid out with: read once from tables that may be much larger. #}
{% macro stage_stored_of_batch(dimension) %}
    {#- A changed column may change any key. -#}
    {%- do dimension.update({'bounds': _key_bounds(dimension)}) if not dimension.is_amended -%}
    {%- do stage(dimension.known, _stored_of_batch_sql(dimension, dimension.as_read)) -%}
    {%- do stage(dimension.known_events, _stored_of_batch_sql(dimension, dimension.events)) if dimension.remembers -%}
{% endmacro %}
