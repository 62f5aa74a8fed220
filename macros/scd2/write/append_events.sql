{# The dimension's event id property is set last; until then, the next run recreates the event
   table. A table created from events has it already. #}
{% macro append_events(load) %}
    {%- do delta_scd2.run_to_its_end(delta_scd2._create_events_sql(load))
        if not load.has_usable_events -%}
    {%- do delta_scd2.run_to_its_end(delta_scd2._append_events_sql(load)) -%}
    {%- do delta_scd2.run_to_its_end(delta_scd2.set_properties_sql(
        load.target, {'scd2.events_id': load.event_log_id}
    )) if load.exists and 'scd2.events_id' not in load.properties -%}
{% endmacro %}


{# Created from names and types: a query would pass on defaults and lengths of its columns, which
   require table features that the events do not need. Other properties of the dimension may refer
   to columns that the events lack. #}
{% macro _create_events_sql(load) %}
    {%- set columns = delta_scd2.event_columns(load) -%}
    {%- set properties = delta_scd2.feature_properties(columns) -%}
    {%- do properties.update({
        'scd2.events_id': load.event_log_id,
        'scd2.made_for': delta_scd2.made_for(load),
    }) -%}
    {%- for column in columns if delta_scd2.has_unstorable_name(column) -%}
        {%- do properties.update({'delta.columnMapping.mode': 'name'}) -%}
    {%- endfor -%}
    {%- do properties.update(delta_scd2.column_mapping_properties()) -%}
create or replace table {{ load.event_log }} (
    {%- for column in columns %}
    {{ delta_scd2.backticked(column.name) }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using delta
{{ delta_scd2.properties_clause(properties) }}
{% endmacro %}


{# Each event of the batch once; `distinct` does not support maps. #}
{% macro _batch_events_sql(load) -%}
select
    {{ delta_scd2.column_list(delta_scd2.event_columns(load)) }}
from (
    select
        *,
        row_number() over (partition by {{ delta_scd2.event_identity(load) | join(', ') }} order by true) as _scd2_copy
    from {{ load.hashed_rows }}
)
where _scd2_copy = 1
{%- endmacro %}


{% macro _append_events_sql(load) %}
insert into {{ load.event_log }} (
    {{ delta_scd2.column_list(delta_scd2.event_columns(load)) }}
)
    {%- if load.is_compared or load.opens_all_rows %}
select
    {{ delta_scd2.column_list(delta_scd2.event_columns(load)) }}
from {{ load.hashed_rows }}
    {%- if load.is_compared %}
where
    _scd2_is_source_row
    and {{ delta_scd2.events_are_unchanged_sql(load) | trim | indent(4) }}
    {%- endif %}
    {%- elif load.has_usable_events %}
select event.*
from (
    {{ delta_scd2._batch_events_sql(load) | indent(4) }}
) as event
left anti join {{ load.stored_events_of_batch }} as stored
    on
    {%- for column in delta_scd2.event_identity(load) %}
        {{ 'and ' if not loop.first }}stored.{{ column }} <=> event.{{ column }}
    {%- endfor %}
where
    {{ delta_scd2.events_are_unchanged_sql(load) | trim | indent(4) }}
    {%- else %}
{{ delta_scd2._batch_events_sql(load) }}
    {%- endif %}
{% endmacro %}
