{# Finds the events that the dimension remembers. Those of one that was thrown away may have outlived it, and those of other columns
   cannot be compared with the events of now. #}
{% macro find_event_log(dimension) %}
    {%- set are_its_own = (dimension.recorded_events or {})['scd2.events_id'] == dimension.events_id -%}
    {%- if dimension.is_amended -%}
        {{- return('') -}}
    {%- elif not are_its_own and 'scd2.events_id' in dimension.recorded and 'scd2.columns' in dimension.recorded -%}
        {#- The first load, which records the columns last, may have died before it remembered any event; any other had them. -#}
        {%- do _refuse_lost_events(dimension) -%}
    {%- endif -%}
    {%- do dimension.update({'remembers': are_its_own and not _is_event_log_too_narrow(dimension)}) -%}
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
    {%- do raise_refusal(problem, remedy ~ '; to go on without these events, so that a late one may give another history, `alter table '
        ~ dimension.target ~ " unset tblproperties ('scd2.events_id')`; or rebuild the dimension with `--full-refresh --vars "
        ~ "'{scd2_discard_history: true}'`") -%}
{% endmacro %}


{# Whether a column of the events is narrower than now: a run that widened it may have died before it began their table anew. #}
{% macro _is_event_log_too_narrow(dimension) %}
    {%- set types = {} -%}
    {%- for column in columns_of(dimension.events) -%}
        {%- do types.update({column.name | lower: column.data_type}) -%}
    {%- endfor -%}
    {%- set columns = event_columns(dimension) -%}
    {%- set lacking = columns | map(attribute='name') | map('lower') | reject('in', types) | list -%}
    {%- do _refuse_lost_events(dimension, lacking) if lacking -%}
    {%- for column in columns if widens(types[column.name | lower], column.data_type) -%}
        {{- return(true) -}}
    {%- endfor -%}
    {{- return(false) -}}
{% endmacro %}
