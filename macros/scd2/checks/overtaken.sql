{# Returns one row if the dimension and its events are unchanged since they were read; otherwise
   raises an error before anything is written. A load that compared current versions alone asks for
   these alone: a commit that touches past versions changes nothing that it read or writes. #}
{% macro assert_target_unchanged_sql(load) %}
    {%- set message = load.name ~ ': ' ~ delta_scd2._overtaken(load.target) ~ '. No row was written. Remedy: '
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
    {%- if load.has_usable_events %}
    and {{ delta_scd2._has_as_many_events_sql(load) }}
    {%- endif %},
    true,
    raise_error({{ delta_scd2.sql_string(message) }})
)
{% endmacro %}


{# The condition under which a run adds its events; raises an error if another one added events after
   this one read them. Without it, each of two runs could miss the events of the other. #}
{% macro events_are_unchanged_sql(load) -%}
    {%- set message = load.name ~ ': ' ~ delta_scd2._overtaken(load.event_log) ~ '. The events of this run '
        ~ 'are not remembered, and its versions may be incomplete. Remedy: '
        ~ delta_scd2._remedy_when_overtaken() ~ '.' -%}
if(
    {{ delta_scd2._has_as_many_events_sql(load) }},
    true,
    raise_error({{ delta_scd2.sql_string(message) }})
)
{%- endmacro %}


{% macro _has_as_many_events_sql(load) %}
    {{- return('(select count(*) from ' ~ load.event_log ~ ') = ' ~ load.target_state['events']) -}}
{% endmacro %}


{# Raises an error if another run recorded anything since this one read the properties of a table, or
   the one that matters. The fingerprint does not show extracts that changed no version, and that of
   the current versions not the key of a past version that was removed, which `scd2.last_key`
   records. #}
{% macro check_properties_unchanged(table, properties, as_read) %}
    {%- if properties != as_read -%}
        {%- do delta_scd2.raise_refusal(
            delta_scd2._overtaken(table), delta_scd2._remedy_when_overtaken()
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _overtaken(table) %}
    {{- return(table ~ ' changed while this run was reading it') -}}
{% endmacro %}


{% macro _remedy_when_overtaken() %}
    {{- return('wait for the other run to end, and run this model again') -}}
{% endmacro %}
