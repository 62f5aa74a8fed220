{# One row per version to open, change or remove: the history of the changed keys, recomputed from
   the stored versions and the rows of the model. #}
{% macro change_set_sql(load) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.durable_key) -%}
    {%- set history = key ~ (', _scd2_is_replaced' if load.rebuild_from else '') -%}
    {%- set infers_members = load.settings.inferred_member is not none -%}
    {%- set events = 'ranked\n    where _scd2_rank = 1'
        if delta_scd2._is_ranked(load) else 'events' -%}
    {%- set states = 'filled' if load.unavailable_columns else 'states' -%}
    {%- set keeps_apart = delta_scd2._keeps_apart(load) -%}
with {{ delta_scd2._stored_sql(load) }}
{{- delta_scd2._states_sql(load) }}
{{- delta_scd2._filled_sql(load, history) if load.unavailable_columns }}
{{- delta_scd2._completed_sql(load, history, states) if infers_members }}
{{- delta_scd2._events_sql(load, history, 'completed' if infers_members else states) }}
{{- delta_scd2._ranked_sql(load) if delta_scd2._is_ranked(load) }}
{{- delta_scd2._change_points_sql(load, history, events) }}
{{- delta_scd2._kept_apart_sql(history) if keeps_apart }}
{{- delta_scd2._islands_sql(load, history, 'kept_apart' if keeps_apart else 'change_points') }}
{{- delta_scd2._versions_sql(load) }}
{{- delta_scd2._changed_versions_sql(load) }}
    {%- if load.lacks_unknown_member %}
union all
select
    'open',
    {{ delta_scd2._unknown_member_sql(load) | trim }},
    false,
    false,
    null
    {%- if load.exists %},
    1
    {%- endif %}
    {%- if load.unavailable_columns %},
    false
    {%- endif %}
    {%- if load.is_recovery %},
    false
    {%- endif %}
    {%- endif %}
{% endmacro %}
