{# What a run changes, one row a version to open, change or remove: the histories of the keys concerned, as they stand
   and as the rows of the model continue them, laid out again. #}
{% macro change_set_sql(dimension) %}
    {%- set key = backticked(dimension.settings.columns.durable_key) -%}
    {%- set history = key ~ (', _scd2_is_replaced' if dimension.rebuild_from else '') -%}
    {%- set has_placeholders = dimension.settings.inferred_member is not none -%}
    {%- set events = 'ranked\n    where _scd2_rank = 1' if _is_ranked(dimension) else 'events' -%}
    {%- set meets_old_hashes = _meets_old_hashes(dimension) -%}
with {{ _stored_sql(dimension) }}
{{- _states_sql(dimension) }}
{{- _completed_sql(dimension, history) if has_placeholders }}
{{- _events_sql(dimension, history, 'completed' if has_placeholders else 'states') }}
{{- _ranked_sql(dimension) if _is_ranked(dimension) }}
{{- _comparable_versions_sql(dimension, events) if meets_old_hashes }}
{{- _change_points_sql(dimension, history, 'judged' if meets_old_hashes else events) }}
{{- _islands_sql(dimension, history) }}
{{- _versions_sql(dimension) }}
{{- _changed_versions_sql(dimension) }}
    {%- if dimension.lacks_unknown_member %}
union all
select
    'open',
    {{ _unknown_member_sql(dimension) }},
    false,
    false,
    null
    {%- endif %}
{% endmacro %}
