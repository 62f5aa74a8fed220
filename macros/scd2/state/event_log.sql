{# What a dimension of events remembers, in a table beside it: every event, also one that changed
   nothing, for a late one may give it meaning. #}

{% macro event_log_relation(settings, target) %}
    {%- if not settings.keeps_events -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(target.incorporate(path={'identifier': target.identifier ~ '__events'})) -}}
{% endmacro %}


{# What the table of events says of itself, if there is one. #}
{% macro event_log_properties(events) %}
    {{- return(read_properties(events) if events is not none and look_up_in_catalog(events) else none) -}}
{% endmacro %}


{# What is in the way of the events: another model, or a table without their mark. #}
{% macro validate_event_log(events, recorded_events) %}
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


{# A column that the model does not return is no part of its events, which may be older than the
   column. #}
{% macro event_columns(load) %}
    {%- set names = load.settings.columns -%}
    {{- return(
        [{'name': names.durable_key, 'data_type': 'string'}]
        + load.kept_columns | reject('in', load.dropped_columns) | list
        + [
            {'name': names.hash_diff, 'data_type': 'string'},
            {'name': names.effective_from, 'data_type': 'timestamp'},
            {'name': '_scd2_is_gone', 'data_type': 'boolean'},
        ]
    ) -}}
{% endmacro %}


{% macro event_identity(load) %}
    {%- set names = load.settings.columns -%}
    {{- return(backticked_names([names.durable_key, names.effective_from, names.hash_diff, '_scd2_is_gone']
        + load.sequence_columns | map(attribute='name') | list)) -}}
{% endmacro %}
