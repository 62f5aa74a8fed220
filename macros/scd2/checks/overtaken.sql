{# Returns one row if the dimension and its events are unchanged since they were read; otherwise
   raises an error before anything is written. A load that compared current versions alone asks for
   these alone: a commit that touches past versions changes nothing that it read or writes. #}
{% macro assert_target_unchanged_sql(load) %}
    {%- set message = load.name ~ ': ' ~ delta_scd2._overtaken(load) ~ '. No row was written. Remedy: '
        ~ delta_scd2._remedy_when_overtaken() ~ '.' %}
select true as _scd2_is_unchanged
from (
    select {{ delta_scd2.fingerprint_sql('hash(_metadata.file_path)') }} as fingerprint
    from {{ load.target }}
    {%- if load.is_compared %}
    where {{ delta_scd2.is_current_sql(load.settings) }}
    {%- endif %}
) as now
where if(
    fingerprint = {{ delta_scd2.sql_string(load.target_state['fingerprint']) }}
    {%- if load.has_event_log %}
    and {{ delta_scd2._has_as_many_events_sql(load) }}
    {%- endif %},
    true,
    raise_error({{ delta_scd2.sql_string(message) }})
)
{% endmacro %}


{# The condition under which a run adds its events; raises an error if another one added events after
   this one read them. Without it, each of two runs could miss the events of the other. #}
{% macro events_are_unchanged_sql(load) -%}
    {%- set message = load.name ~ ': ' ~ load.event_log ~ ' changed while this run was reading it. The '
        ~ 'events of this run are not remembered, and its versions may be incomplete. Remedy: '
        ~ delta_scd2._remedy_when_overtaken() ~ '.' -%}
if(
    {{ delta_scd2._has_as_many_events_sql(load) }},
    true,
    raise_error({{ delta_scd2.sql_string(message) }})
)
{%- endmacro %}


{# Raises an error if another run has made the table of events anew since this one looked for it. #}
{% macro check_table_of_events_unchanged(load) %}
    {%- if delta_scd2.event_log_properties(load.event_log) != load.event_log_properties -%}
        {%- do delta_scd2.raise_refusal(
            load.event_log ~ ' changed while this run was reading it', delta_scd2._remedy_when_overtaken()
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _has_as_many_events_sql(load) %}
    {{- return('(select count(*) from ' ~ load.event_log ~ ') = ' ~ load.target_state['events']) -}}
{% endmacro %}


{# Raises an error if another run recorded anything since this one read the properties. The
   fingerprint does not show extracts that changed no version, and that of the current versions
   not the key of a past version that was removed, which `scd2.last_key` records. #}
{% macro check_properties_unchanged(load) %}
    {%- if delta_scd2.read_properties(load.target) != load.properties -%}
        {%- do delta_scd2.raise_refusal(
            delta_scd2._overtaken(load), delta_scd2._remedy_when_overtaken()
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _overtaken(load) %}
    {{- return(load.target ~ ' changed while this run was reading it') -}}
{% endmacro %}


{% macro _remedy_when_overtaken() %}
    {{- return('wait for the other run to end, and run this model again') -}}
{% endmacro %}
