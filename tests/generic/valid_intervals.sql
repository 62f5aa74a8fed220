{% test valid_intervals(
    model, unique_key=none, effective_from=none, effective_to=none, is_deleted=none, flag_values=none, open_end=none,
    closing_gap=none, hard_deletes=none
) %}
    {%- if delta_scd2.shared_count(model) == 0 -%}
{{ delta_scd2.no_failing_rows_sql() }}
    {%- else -%}
    {%- set dimension = delta_scd2.tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'effective_to': effective_to,
        'is_deleted': is_deleted, 'flag_values': flag_values, 'open_end': open_end, 'closing_gap': closing_gap,
        'hard_deletes': hard_deletes
    }) -%}
with neighbours as (
{{ delta_scd2.neighbours_sql(dimension, model) }}
),

checked as (
    select
        *,
        {{ delta_scd2.interval_problem_sql(dimension) }} as _scd2_problem
    from neighbours
)

select *
from checked
where _scd2_problem is not null
    {%- endif -%}
{% endtest %}
