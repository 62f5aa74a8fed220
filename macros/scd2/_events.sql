{# What a dimension of events remembers, in a table beside it: every event, also one that changed nothing, for a late one
   may give it meaning. #}

{% macro _events_relation(settings, target) %}
    {%- if settings.source_kind != 'changelog' -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(target.incorporate(path={'identifier': target.identifier ~ '__events'})) -}}
{% endmacro %}


{# What the table of events says of itself, if there is one. #}
{% macro _recorded_events(events) %}
    {{- return(_recorded(events) if events is not none and _is_in_catalog(events) else none) -}}
{% endmacro %}


{# What is in the way of the events. #}
{% macro _wrong_events(dimension) %}
    {%- if dimension.recorded_events is none or 'scd2.events_id' in dimension.recorded_events -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return([dimension.events ~ ' is in the way, where the events of ' ~ dimension.target ~ ' are remembered: rename or drop it; if it '
        ~ 'holds these events, set the property `scd2.events_id` of both tables to one text']) -}}
{% endmacro %}


{# Whether the events beside the dimension are its own: those of one that was thrown away may have outlived it. #}
{% macro _has_events(dimension) %}
    {{- return(dimension.recorded_events is not none and dimension.recorded_events['scd2.events_id'] == dimension.events_id) -}}
{% endmacro %}


{% macro _remember(dimension) %}
    {%- if dimension.remembers -%}
        {%- do _run_to_its_end(_remember_sql(dimension)) -%}
    {%- else -%}
        {#- A dimension that was made of extracts has no mark as yet. -#}
        {%- do _run_to_its_end(_set_properties_sql(dimension, {'scd2.events_id': dimension.events_id}))
            if dimension.exists and 'scd2.events_id' not in dimension.recorded -%}
        {%- do _run_to_its_end(_first_events_sql(dimension)) -%}
    {%- endif -%}
{% endmacro %}


{# Columns may need the mapping that the dimension has; its other properties may speak of columns that events have not. #}
{% macro _first_events_sql(dimension) %}
    {%- set properties = {'scd2.events_id': dimension.events_id} -%}
    {%- for name, value in (config.get('tblproperties') or {}).items() if name.startswith('delta.columnMapping.') -%}
        {%- do properties.update({name: value}) -%}
    {%- endfor -%}
create or replace table {{ dimension.events }} using delta
{{ _properties_clause(properties) }}
as
{{ _batch_events_sql(dimension) }}
{% endmacro %}


{# Each event of the batch once; not by `distinct`, which knows no maps. #}
{% macro _batch_events_sql(dimension) -%}
select
    {{ _event_columns(dimension) | join(',\n    ') }}
from (
    select
        *,
        row_number() over (partition by {{ _event_identity(dimension) | join(', ') }} order by true) as _scd2_copy
    from {{ dimension.extract }}
)
where _scd2_copy = 1
{%- endmacro %}


{% macro _event_identity(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {{- return(_quoted([names.durable_key, names.effective_from, names.hash_diff, '_scd2_is_gone']
        + dimension.sequence_columns | map(attribute='name') | list)) -}}
{% endmacro %}


{# A column that the model does not return is no part of its events, which may be older than the column. #}
{% macro _event_columns(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set returned = dimension.kept_columns | reject('in', dimension.vanished) | map(attribute='name') | list -%}
    {{- return(_quoted([names.durable_key] + returned
        + [names.hash_diff, names.effective_from, '_scd2_is_gone'])) -}}
{% endmacro %}


{% macro _remember_sql(dimension) %}
insert into {{ dimension.events }} (
    {{ _event_columns(dimension) | join(',\n    ') }}
)
select event.*
from (
    {{ _batch_events_sql(dimension) | indent(4) }}
) as event
left anti join {{ dimension.known_events }} as known
    on
    {%- for column in _event_identity(dimension) %}
        {{ 'and ' if not loop.first }}known.{{ column }} <=> event.{{ column }}
    {%- endfor %}
{% endmacro %}
