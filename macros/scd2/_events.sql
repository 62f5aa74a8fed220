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


{# What is in the way of the events: another model, or a table without their mark. #}
{% macro _wrong_events(events, recorded_events) %}
    {%- set names = [] -%}
    {%- for node in graph.nodes.values() if node.resource_type in ['model', 'seed', 'snapshot']
        and [node.schema | lower, node.alias | lower] == [events.schema | lower, events.identifier | lower] -%}
        {%- do names.append(node.name) -%}
    {%- endfor -%}
    {%- if names -%}
        {{- return(['the model `' ~ names | first ~ '` makes ' ~ events ~ ', where the events of this dimension are remembered: give '
            ~ 'one of the two another `alias`']) -}}
    {%- elif recorded_events is none or 'scd2.events_id' in recorded_events -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return([events ~ ' is in the way, where the events of this dimension are remembered: rename or drop it; if it '
        ~ 'holds these events, set the property `scd2.events_id` of both tables to one text']) -}}
{% endmacro %}


{# Finds the events that the dimension remembers. Those of one that was thrown away may have outlived it, and those of other columns
   cannot be compared with the events of now. #}
{% macro _recall_events(dimension) %}
    {%- set are_its_own = (dimension.recorded_events or {})['scd2.events_id'] == dimension.events_id -%}
    {%- if dimension.is_amended -%}
        {{- return('') -}}
    {%- elif not are_its_own and 'scd2.events_id' in dimension.recorded and 'scd2.columns' in dimension.recorded -%}
        {#- The first load, which records the columns last, may have died before it remembered any event; any other had them. -#}
        {%- do _refuse_lost_events(dimension) -%}
    {%- endif -%}
    {%- do dimension.update({'remembers': are_its_own and not _are_too_narrow(dimension)}) -%}
{% endmacro %}


{% macro _refuse_lost_events(dimension, lacking=none) %}
    {%- set problem, remedy = dimension.events ~ ' holds the events of another dimension than ' ~ dimension.target,
        'bring back its own, by name or by `restore table`' -%}
    {%- if dimension.recorded_events is none -%}
        {%- set problem, remedy = 'the table of the events that ' ~ dimension.target ~ ' remembers, ' ~ dimension.events ~ ', is gone',
            'bring it back: rename or clone it as the dimension was, or run `dbt run-operation register_tables` if the catalog lost it' -%}
    {%- elif lacking -%}
        {%- set problem, remedy = dimension.events ~ ' lacks the column(s) ' ~ lacking | join(', ') ~ ', which the events of '
            ~ dimension.target ~ ' have', 'bring them back by `restore table`' -%}
    {%- endif -%}
    {%- do _refuse(problem, remedy ~ '; to go on without these events, so that a late one may give another history, `alter table '
        ~ dimension.target ~ " unset tblproperties ('scd2.events_id')`; or rebuild the dimension with `--full-refresh --vars "
        ~ "'{scd2_discard_history: true}'`") -%}
{% endmacro %}


{# Whether a column of the events is narrower than now: a run that widened it may have died before it began their table anew. #}
{% macro _are_too_narrow(dimension) %}
    {%- set types = {} -%}
    {%- for column in _columns_of(dimension.events) -%}
        {%- do types.update({column.name | lower: column.data_type}) -%}
    {%- endfor -%}
    {%- set columns = _event_columns(dimension) -%}
    {%- set lacking = columns | map(attribute='name') | map('lower') | reject('in', types) | list -%}
    {%- do _refuse_lost_events(dimension, lacking) if lacking -%}
    {%- for column in columns if _widens(types[column.name | lower], column.data_type) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{% endmacro %}


{# The mark of the dimension comes last: until then the next run begins anew. One that was made of events has it already, but for one
   that `--empty` made, which has events only where its model reads a table by its name. #}
{% macro _remember(dimension) %}
    {%- do _run_to_its_end(_create_events_sql(dimension)) if not dimension.remembers -%}
    {%- do _run_to_its_end(_remember_sql(dimension)) -%}
    {%- do _run_to_its_end(_set_properties_sql(dimension, {'scd2.events_id': dimension.events_id}))
        if (dimension.exists or flags.EMPTY) and 'scd2.events_id' not in dimension.recorded -%}
{% endmacro %}


{# Made of names and types, since a query hands on what Spark notes beside its columns, such as defaults and lengths, which take
   features that events have no use for. The other properties of the dimension may speak of columns that events have not. #}
{% macro _create_events_sql(dimension) %}
    {%- set columns = _event_columns(dimension) -%}
    {%- set properties = dict(_feature_properties(columns), **{'scd2.events_id': dimension.events_id}) -%}
    {%- for column in columns if modules.re.search(_unstorable_characters(), column.name) -%}
        {%- do properties.update({'delta.columnMapping.mode': 'name'}) -%}
    {%- endfor -%}
    {%- for name, value in (config.get('tblproperties') or {}).items() if name.startswith('delta.columnMapping.') -%}
        {%- do properties.update({name: value}) -%}
    {%- endfor -%}
create or replace table {{ dimension.events }} (
    {%- for column in columns %}
    {{ _backticked(column.name) }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using delta
{{ _properties_clause(properties) }}
{% endmacro %}


{# Each event of the batch once; not by `distinct`, which knows no maps. #}
{% macro _batch_events_sql(dimension) -%}
select
    {{ _column_list(_event_columns(dimension)) }}
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
    {{- return(
        [{'name': names.durable_key, 'data_type': 'string'}]
        + dimension.kept_columns | reject('in', dimension.vanished) | list
        + [
            {'name': names.hash_diff, 'data_type': 'string'},
            {'name': names.effective_from, 'data_type': 'timestamp'},
            {'name': '_scd2_is_gone', 'data_type': 'boolean'},
        ]
    ) -}}
{% endmacro %}


{% macro _remember_sql(dimension) %}
insert into {{ dimension.events }} (
    {{ _column_list(_event_columns(dimension)) }}
)
    {%- if dimension.remembers %}
select event.*
from (
    {{ _batch_events_sql(dimension) | indent(4) }}
) as event
left anti join {{ dimension.known_events }} as known
    on
    {%- for column in _event_identity(dimension) %}
        {{ 'and ' if not loop.first }}known.{{ column }} <=> event.{{ column }}
    {%- endfor %}
    {%- else %}
{{ _batch_events_sql(dimension) }}
    {%- endif %}
{% endmacro %}
