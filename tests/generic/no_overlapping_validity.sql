{% test no_overlapping_validity(
    model, unique_key=none, effective_from=none, effective_to=none, closing_gap=none
) %}
    {%- set dimension = _tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'effective_to': effective_to,
        'closing_gap': closing_gap
    }) -%}
with neighbours as (
    select
        {{ dimension.key_columns }},
        {{ dimension.effective_from }},
        {{ dimension.effective_to }},
        lead({{ dimension.effective_from }}) over (
            partition by {{ dimension.key_columns }}
            order by {{ dimension.effective_from }}, {{ dimension.effective_to }} nulls last
        ) as next_effective_from
    from {{ model }}
)

select *
from neighbours
where
    next_effective_from is not null
    {%- if not dimension.gap %}
    and coalesce({{ dimension.effective_to }} > next_effective_from, true)
    {%- else %}
    and coalesce({{ dimension.effective_to }} >= next_effective_from, true)
    {%- endif %}
{% endtest %}
