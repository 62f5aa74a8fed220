{# The load, with whether the stored events can be used; raises an error if they are lost. Events of
   a discarded dimension may still exist, and events with other columns cannot be compared with new
   ones. #}
{% macro with_event_log(load) %}
    {%- set are_made_anew = (load.schema_changed or delta_scd2.is_other_meaning_of_events(load))
        and not delta_scd2.are_made_anew_already(load) -%}
    {%- if not delta_scd2._has_own_event_table(load) -%}
        {#- Only a first load may have crashed before it stored events, because it records the
            columns last. -#}
        {%- do delta_scd2._raise_lost_events(load)
            if delta_scd2.lacks_event_table(load) and 'scd2.columns' in load.properties
                and not (are_made_anew and load.event_log_properties is none) -%}
        {{- return(load) -}}
    {%- elif are_made_anew -%}
        {{- return(load) -}}
    {%- endif -%}
    {%- set types = delta_scd2.types_by_name(delta_scd2.columns_of(load.event_log)) -%}
    {%- set lacking = delta_scd2.lower_names(delta_scd2.event_columns(load))
        | reject('in', types) | list -%}
    {%- do delta_scd2._raise_lost_events(load, lacking) if lacking -%}
    {%- set is_too_narrow = delta_scd2._is_too_narrow(delta_scd2.event_columns(load), types) -%}
    {{- return(dict(load, has_usable_events=not is_too_narrow)) -}}
{% endmacro %}


{# Whether the dimension remembers events, and their table is not there: lost, or not made yet by a
   first run that died. #}
{% macro lacks_event_table(load) %}
    {{- return(load.event_log is not none and 'scd2.events_id' in load.properties
        and not delta_scd2._has_own_event_table(load)) -}}
{% endmacro %}


{% macro _has_own_event_table(load) %}
    {{- return((load.event_log_properties or {})['scd2.events_id'] == load.event_log_id) -}}
{% endmacro %}


{% macro _raise_lost_events(load, lacking=none) %}
    {%- if load.event_log_properties is none -%}
        {%- set problem = 'the table of the events that ' ~ load.target ~ ' remembers, '
            ~ load.event_log ~ ', is gone' -%}
        {%- set remedy = 'restore it: if the dimension was renamed or cloned, rename or clone it in the '
            ~ 'same way, or run `dbt run-operation register_tables` if the catalog lost it' -%}
    {%- elif lacking -%}
        {%- set problem = load.event_log ~ ' lacks the column(s) ' ~ lacking | join(', ')
            ~ ', which the events of ' ~ load.target ~ ' have' -%}
        {%- set remedy = 'bring them back by `restore table`' -%}
    {%- else -%}
        {%- set problem = load.event_log ~ ' holds the events of another dimension than '
            ~ load.target -%}
        {%- set remedy = 'give the event table of this dimension that name again, or use `restore table`' -%}
    {%- endif -%}
    {%- do delta_scd2.raise_refusal(
        problem,
        remedy ~ '; to go on without these events, so that a late one may give another history, '
            ~ '`alter table ' ~ load.target ~ " unset tblproperties ('scd2.events_id')`; or "
            ~ delta_scd2.how_to_discard_history()
    ) -%}
{% endmacro %}


{# Whether an event column is narrower than the current type: a run that widened it may have crashed
   before it recreated the event table. #}
{% macro _is_too_narrow(columns, types) %}
    {%- for column in columns if delta_scd2.widens(types[column.name | lower], column.data_type) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{% endmacro %}
