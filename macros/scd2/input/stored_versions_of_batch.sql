{% macro _stored_of_batch_sql(load, table) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.durable_key) -%}
select *
from {{ table }}
where
    {{ key }} in (select {{ key }} from {{ load.hashed_rows }})
    {%- for bound in load.bounds %}
    and {{ bound }}
    {%- endfor %}
{% endmacro %}


{# The minimum and maximum of each business key column, null if they are no text that keeps its
   bytes on the way. #}
{% macro _key_range_sql(load, columns) %}
select
    {%- for column in columns %}
    {%- set name, number = delta_scd2.backticked(column.name), loop.index %}
    {%- for bound, limit in [('least', 'min(' ~ name ~ ')'), ('greatest', 'max(' ~ name ~ ')')] %}
    {{ 'if(is_valid_utf8(' ~ limit ~ '), ' ~ limit ~ ', null)' if column.data_type == 'string'
        else 'cast(' ~ limit ~ ' as string)' }} as {{ bound }}_{{ number }}{{ ',' if not loop.last }}
    {%- endfor %}
    {{- ',' if not loop.last }}
    {%- endfor %}
from {{ load.hashed_rows }}
{% endmacro %}


{# The range as conditions. Delta skips files by literals, but not by a list of keys from a
   subquery. #}
{% macro _key_bounds(load) %}
    {%- set types = ['tinyint', 'smallint', 'int', 'bigint', 'date', 'string'] -%}
    {%- set columns = load.key_columns | selectattr('data_type', 'in', types) | list -%}
    {%- set range = run_query(delta_scd2._key_range_sql(load, columns)).rows[0] if columns -%}
    {%- set bounds = [] -%}
    {%- for column in columns -%}
        {%- set least, greatest = range['least_' ~ loop.index], range['greatest_' ~ loop.index] -%}
        {%- do bounds.append(
            delta_scd2.backticked(column.name)
                ~ ' between ' ~ delta_scd2.typed_literal(column.data_type, least)
                ~ ' and ' ~ delta_scd2.typed_literal(column.data_type, greatest)
        ) if least is not none and greatest is not none -%}
    {%- endfor -%}
    {{- return(bounds) -}}
{% endmacro %}


{# Stages the stored versions and events of the keys in the batch, so that the tables, which may be
   much larger, are read once. #}
{% macro stage_stored_of_batch(load) %}
    {#- A schema change can affect any key. -#}
    {%- set load = dict(load, bounds=delta_scd2._key_bounds(load) if not load.schema_changed else []) -%}
    {%- do delta_scd2.stage_table(
        load.stored_of_batch, delta_scd2._stored_of_batch_sql(load, load.target_as_read)
    ) -%}
    {%- do delta_scd2.stage_table(
        load.stored_events_of_batch, delta_scd2._stored_of_batch_sql(load, load.event_log)
    ) if load.has_usable_events -%}
    {{- return(load) -}}
{% endmacro %}
