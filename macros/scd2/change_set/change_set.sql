{# One row per version to open, change or remove: the history of the changed keys, recomputed from
   the stored versions and the rows of the model. #}
{% macro change_set_sql(load) %}
    {%- set key = backticked(load.settings.columns.durable_key) -%}
    {%- set history = key ~ (', _scd2_is_replaced' if load.rebuild_from else '') -%}
    {%- set has_placeholders = load.settings.inferred_member is not none -%}
    {%- set events = 'ranked\n    where _scd2_rank = 1' if _is_ranked(load) else 'events' -%}
    {%- set meets_old_hashes = _meets_old_hashes(load) -%}
with {{ _stored_sql(load) }}
{{- _states_sql(load) }}
{{- _completed_sql(load, history) if has_placeholders }}
{{- _events_sql(load, history, 'completed' if has_placeholders else 'states') }}
{{- _ranked_sql(load) if _is_ranked(load) }}
{{- _comparable_versions_sql(load, events) if meets_old_hashes }}
{{- _change_points_sql(load, history, 'comparable_events' if meets_old_hashes else events) }}
{{- _islands_sql(load, history) }}
{{- _versions_sql(load) }}
{{- _changed_versions_sql(load) }}
    {%- if load.lacks_unknown_member %}
union all
select
    'open',
    {{ _unknown_member_sql(load) }},
    false,
    false,
    null
    {%- endif %}
{% endmacro %}
