{# A dimension of a changelog stores every event in a table beside it, even one that changed
   nothing, because a late event can make it significant. #}

{% macro event_log_relation(settings, target) %}
    {%- if not settings.keeps_events -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(target.incorporate(path={'identifier': target.identifier ~ '__events'})) -}}
{% endmacro %}


{# The properties of the event table, or none if it does not exist. #}
{% macro event_log_properties(events) %}
    {{- return(delta_scd2.read_properties(events)
        if events is not none and delta_scd2.query_exists(events) else none) -}}
{% endmacro %}


{# Reports another model, or a table without the event id property, under the name of the event
   table. #}
{% macro validate_event_log(events, recorded_events) %}
    {%- set mistakes = delta_scd2.models_in_the_way(events, 'the events of this dimension') -%}
    {%- if mistakes -%}
        {{- return(mistakes) -}}
    {%- elif recorded_events is none or 'scd2.events_id' in recorded_events -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return([
        events ~ ' is in the way, where the events of this dimension are remembered: rename or '
            ~ 'drop it; if it holds these events, set the property `scd2.events_id` of both '
            ~ 'tables to one text'
    ]) -}}
{% endmacro %}


{% macro event_count(load) %}
    {{- return(run_query('select count(*) as events from ' ~ load.event_log).rows[0]['events'] | int) -}}
{% endmacro %}


{# Excludes columns that the model no longer returns; the events may be older than such a column. #}
{% macro event_columns(load) %}
    {%- set names = load.settings.columns -%}
    {{- return(
        [{'name': names.durable_key, 'data_type': 'string'}]
        + delta_scd2.columns_of_model(load)
        + [
            {'name': names.hash_diff, 'data_type': 'string'},
            {'name': names.effective_from, 'data_type': 'timestamp'},
            {'name': '_scd2_is_gone', 'data_type': 'boolean'},
        ]
    ) -}}
{% endmacro %}


{% macro event_identity(load) %}
    {%- set names = load.settings.columns -%}
    {{- return(delta_scd2.backticked_names([
        names.durable_key,
        names.effective_from,
        names.hash_diff,
        '_scd2_is_gone',
    ] + load.sequence_columns | map(attribute='name') | list)) -}}
{% endmacro %}
