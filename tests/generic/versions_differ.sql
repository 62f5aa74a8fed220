{% test versions_differ(
    model, unique_key=none, effective_from=none, is_deleted=none, flag_values=none, track_columns=none
) %}
    {%- set dimension = _tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'is_deleted': is_deleted,
        'flag_values': flag_values, 'track_columns': track_columns
    }) -%}
with versions as (
    select
        {{ dimension.key_columns }},
        {{ dimension.effective_from }},
        {{ dimension.is_deleted }},
        struct({{ dimension.tracked }}) as tracked
    from {{ model }}
),

neighbours as (
    select
        *,
        lag({{ dimension.effective_from }}) over key_history as previous_effective_from,
        lag({{ dimension.is_deleted }}) over key_history as previous_is_deleted,
        lag(tracked) over key_history as previous_tracked
    from versions
    window key_history as (partition by {{ dimension.key_columns }} order by {{ dimension.effective_from }})
)

select
    {{ dimension.key_columns }},
    {{ dimension.effective_from }},
    previous_effective_from
from neighbours
where
    previous_effective_from is not null
    and previous_is_deleted = {{ dimension.no }}
    and {{ dimension.is_deleted }} = {{ dimension.no }}
    and tracked <=> previous_tracked
{% endtest %}
