{% test valid_intervals(
    model, unique_key=none, effective_from=none, effective_to=none, is_deleted=none, flag_values=none, closing_gap=none
) %}
    {%- set dimension = _tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'effective_to': effective_to,
        'is_deleted': is_deleted, 'flag_values': flag_values, 'closing_gap': closing_gap
    }) -%}
with neighbours as (
{{ _neighbours_sql(dimension, model) }}
),

judged as (
    select
        *,
        case
            when {{ dimension.effective_from }} is null then 'has no beginning'
            when {{ dimension.effective_from }} >= {{ dimension.effective_to }} then 'ends before it begins'
            when
                {{ dimension.effective_to }} < next_effective_from{{ dimension.gap }}
                and {{ dimension.is_deleted }} = {{ dimension.no }}
                then 'leaves a gap without a deletion'
        end as problem
    from neighbours
)

select *
from judged
where problem is not null
{% endtest %}
