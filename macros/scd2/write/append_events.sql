{# The mark of the dimension comes last: until then the next run begins anew. One that was made of events has it already, but for one
   that `--empty` made, which has events only where its model reads a table by its name. #}
{% macro append_events(dimension) %}
    {%- do run_to_its_end(_create_events_sql(dimension)) if not dimension.remembers -%}
    {%- do run_to_its_end(_append_events_sql(dimension)) -%}
    {%- do run_to_its_end(set_properties_sql(dimension, {'scd2.events_id': dimension.events_id}))
        if (dimension.exists or flags.EMPTY) and 'scd2.events_id' not in dimension.recorded -%}
{% endmacro %}


{# Made of names and types, since a query hands on what Spark notes beside its columns, such as defaults and lengths, which take
   features that events have no use for. The other properties of the dimension may speak of columns that events have not. #}
{% macro _create_events_sql(dimension) %}
    {%- set columns = event_columns(dimension) -%}
    {%- set properties = dict(feature_properties(columns), **{'scd2.events_id': dimension.events_id}) -%}
    {%- for column in columns if modules.re.search(unstorable_characters(), column.name) -%}
        {%- do properties.update({'delta.columnMapping.mode': 'name'}) -%}
    {%- endfor -%}
    {%- for name, value in (config.get('tblproperties') or {}).items() if name.startswith('delta.columnMapping.') -%}
        {%- do properties.update({name: value}) -%}
    {%- endfor -%}
create or replace table {{ dimension.events }} (
    {%- for column in columns %}
    {{ backticked(column.name) }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using delta
{{ properties_clause(properties) }}
{% endmacro %}


{# Each event of the batch once; not by `distinct`, which knows no maps. #}
{% macro _batch_events_sql(dimension) -%}
select
    {{ column_list(event_columns(dimension)) }}
from (
    select
        *,
        row_number() over (partition by {{ event_identity(dimension) | join(', ') }} order by true) as _scd2_copy
    from {{ dimension.extract }}
)
where _scd2_copy = 1
{%- endmacro %}


{% macro _append_events_sql(dimension) %}
insert into {{ dimension.events }} (
    {{ column_list(event_columns(dimension)) }}
)
    {%- if dimension.remembers %}
select event.*
from (
    {{ _batch_events_sql(dimension) | indent(4) }}
) as event
left anti join {{ dimension.known_events }} as known
    on
    {%- for column in event_identity(dimension) %}
        {{ 'and ' if not loop.first }}known.{{ column }} <=> event.{{ column }}
    {%- endfor %}
    {%- else %}
{{ _batch_events_sql(dimension) }}
    {%- endif %}
{% endmacro %}
