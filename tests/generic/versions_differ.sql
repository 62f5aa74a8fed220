{% test versions_differ(
    model, unique_key=none, effective_from=none, is_deleted=none, flag_values=none, hard_deletes=none,
    track_columns=none
) %}
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
        lag({{ dimension.effective_from }}) over key_history as _scd2_previous_from,
        lag({{ dimension.is_deleted }}) over key_history as _scd2_previous_is_deleted,
        lag(_scd2_tracked) over key_history as _scd2_previous_tracked
    from versions
    window key_history as (partition by {{ dimension.key_columns }} order by {{ dimension.effective_from }})
)

select
    {{ dimension.key_columns }},
    {{ dimension.effective_from }},
    _scd2_previous_from
from neighbours
where
    _scd2_previous_from is not null
    and _scd2_tracked <=> _scd2_previous_tracked
    {%- if dimension.keeps_tombstones %}
    -- a tombstone has the values of the version before it
    and _scd2_previous_is_deleted = {{ dimension.is_deleted }}
    {%- else %}
    and _scd2_previous_is_deleted = {{ dimension.no }}
    {%- endif %}
{% endtest %}
