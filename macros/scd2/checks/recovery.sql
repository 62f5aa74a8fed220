{# Extracts that a killed run applied without recording them lead to the versions that exist.
   Other extracts, from a time when increments made the history, would remove or change some of them.
   Versions from the beginning of time are exempt if there are inferred rows, which may come at any
   time. #}
{% macro _check_recovery(load) %}
    {%- set keys = delta_scd2._offenders(load, load.changes, delta_scd2._contradicts_history_sql(load)) -%}
    {%- if keys -%}
        {%- do delta_scd2.raise_refusal(
            'the extract of ' ~ delta_scd2.utc_text(load.rebuild_from)
                ~ ' UTC comes too late: the dimension already has the history up to '
                ~ delta_scd2.utc_text(load.target_state['high_water_mark'])
                ~ ' UTC, and already has a different history since then for ' ~ keys,
            'leave the extracts up to that time out of the model, or '
                ~ delta_scd2.how_to_rebuild(load.rebuild_from)
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _contradicts_history_sql(load) -%}
    {%- set boundary = delta_scd2.timestamp_literal(load.target_state['high_water_mark']) -%}
    {%- set effective_from = delta_scd2.backticked(load.settings.columns.effective_from) -%}
(
    _scd2_action = 'remove'
    or _scd2_is_rewritten
    or (_scd2_action = 'open' and {{ effective_from }} <= {{ boundary }})
    or ((_scd2_newly_closed or _scd2_newly_deleted) and _scd2_valid_to <= {{ boundary }})
)
and {{ delta_scd2.is_not_unknown_member_sql(load) }}
    {%- if load.settings.inferred_member %}
and {{ effective_from }} <> {{ delta_scd2.beginning_of_time() }}
    {%- endif %}
{%- endmacro %}
