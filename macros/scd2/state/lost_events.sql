{# The load, with whether the events that its dimension remembers can be gone on with; refused
   where they are lost. Those of one that was thrown away may have outlived it, and those of other
   columns cannot be compared with the events of now. #}
{% macro with_event_log(load) %}
    {%- if load.schema_changed -%}
        {{- return(load) -}}
    {%- elif (load.event_log_properties or {})['scd2.events_id'] != load.event_log_id -%}
        {#- The first load, which records the columns last, may have died before it remembered
            any event; any other had them. -#}
        {%- do _raise_lost_events(load) if 'scd2.events_id' in load.properties and 'scd2.columns' in load.properties -%}
        {{- return(load) -}}
    {%- endif -%}
    {%- set types = types_by_name(columns_of(load.event_log)) -%}
    {%- set lacking = event_columns(load) | map(attribute='name') | map('lower') | reject('in', types) | list -%}
    {%- do _raise_lost_events(load, lacking) if lacking -%}
    {{- return(dict(load, has_event_log=not _is_too_narrow(event_columns(load), types))) -}}
{% endmacro %}


{% macro _raise_lost_events(load, lacking=none) %}
    {%- set problem, remedy = load.event_log ~ ' holds the events of another dimension than ' ~ load.target,
        'bring back its own, by name or by `restore table`' -%}
    {%- if load.event_log_properties is none -%}
        {%- set problem, remedy = 'the table of the events that ' ~ load.target ~ ' remembers, ' ~ load.event_log ~ ', is gone',
            'bring it back: rename or clone it as the dimension was, or run `dbt run-operation register_tables` if the catalog lost it' -%}
    {%- elif lacking -%}
        {%- set problem, remedy = load.event_log ~ ' lacks the column(s) ' ~ lacking | join(', ') ~ ', which the events of '
            ~ load.target ~ ' have', 'bring them back by `restore table`' -%}
    {%- endif -%}
    {%- do raise_refusal(problem, remedy ~ '; to go on without these events, so that a late one may give another history, `alter table '
        ~ load.target ~ " unset tblproperties ('scd2.events_id')`; or rebuild the dimension with `--full-refresh --vars "
        ~ "'{scd2_discard_history: true}'`") -%}
{% endmacro %}


{# Whether a column of the events is narrower than now: a run that widened it may have died
   before it began their table anew. #}
{% macro _is_too_narrow(columns, types) %}
    {%- for column in columns if widens(types[column.name | lower], column.data_type) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{% endmacro %}
