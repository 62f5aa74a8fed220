{# Extracts that a killed run applied without recording them lead to the versions that exist.
   Other extracts, from a time when increments made the history, would remove some of them.
   Inferred rows are exempt, because they may come at any time. #}
{% macro _check_recovery(load) %}
    {%- set boundary = delta_scd2.timestamp_literal(load.target_state['high_water_mark']) -%}
    {%- set keys = delta_scd2._offenders(
        load,
        load.changes,
        "(_scd2_action = 'remove' or (_scd2_action = 'open' and "
            ~ delta_scd2.backticked(load.settings.columns.effective_from) ~ ' <= ' ~ boundary
            ~ ') or ((_scd2_newly_closed or _scd2_newly_deleted) and _scd2_valid_to <= ' ~ boundary
            ~ ')) and ' ~ delta_scd2.is_not_unknown_member_sql(load)
    ) -%}
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
