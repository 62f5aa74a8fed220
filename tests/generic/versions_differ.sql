{% test versions_differ(
    model, unique_key=none, effective_from=none, is_deleted=none, flag_values=none, hard_deletes=none,
    track_columns=none
) %}
    {%- if delta_scd2.shared_count(model) == 0 -%}
{{ delta_scd2.no_failing_rows_sql() }}
    {%- else -%}
    {%- set dimension = delta_scd2.tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'is_deleted': is_deleted,
        'flag_values': flag_values, 'hard_deletes': hard_deletes, 'track_columns': track_columns
    }) -%}
with versions as (
    select
        {{ dimension.key_columns }},
        {{ dimension.effective_from }},
        {{ dimension.is_deleted }},
        struct({{ dimension.tracked }}) as _scd2_tracked
    from {{ model }}
),

neighbours as (
    select
        *,
        {{ delta_scd2.previous_version_sql(dimension) }}
    from versions
    {{ delta_scd2.key_history_sql(dimension) }}
)

select
    {{ dimension.key_columns }},
    {{ dimension.effective_from }},
    _scd2_previous_from
from neighbours
where
    {{ delta_scd2.is_not_a_new_version_sql(dimension) }}
    {%- endif -%}
{% endtest %}
