{% test valid_intervals(
    model, unique_key=none, effective_from=none, effective_to=none, is_deleted=none, flag_values=none, open_end=none,
    closing_gap=none, hard_deletes=none
) %}
    {%- set dimension = delta_scd2.tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'effective_to': effective_to,
        'is_deleted': is_deleted, 'flag_values': flag_values, 'open_end': open_end, 'closing_gap': closing_gap,
        'hard_deletes': hard_deletes
    }) -%}
with neighbours as (
{{ delta_scd2.neighbours_sql(dimension, model) }}
),

judged as (
    select
        *,
        case
            when {{ dimension.effective_from }} is null then 'has no beginning'
            when {{ dimension.effective_from }} >= {{ dimension.effective_to }} then 'ends before it begins'
            when
                {{ dimension.effective_to }} < {{ dimension.next_closing }}
                and {{ dimension.is_deleted }} = {{ dimension.no }}
                then 'leaves a gap without a deletion'
            when
                _scd2_next_from is null
                and not ({{ dimension.is_open }})
                and {{ dimension.is_deleted }} = {{ dimension.no }}
                then 'ends without a deletion'
            {%- if not dimension.keeps_tombstones %}
            when
                {{ dimension.effective_to }} >= {{ dimension.next_closing }}
                and {{ dimension.is_deleted }} = {{ dimension.yes }}
                then 'is deleted where the next version begins'
            {%- endif %}
        end as _scd2_problem
    from neighbours
)

select *
from judged
where _scd2_problem is not null
{% endtest %}
