{% test no_overlapping_validity(
    model, unique_key=none, effective_from=none, effective_to=none, closing_gap=none
) %}
    {%- if delta_scd2.shared_count(model) == 0 -%}
{{ delta_scd2.no_failing_rows_sql() }}
    {%- else -%}
    {%- set dimension = delta_scd2.tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'effective_to': effective_to,
        'closing_gap': closing_gap
    }) -%}
with neighbours as (
{{ delta_scd2.neighbours_sql(dimension, model) }}
)

select *
from neighbours
where
    {{ delta_scd2.overlaps_next_version_sql(dimension) }}
    {%- endif -%}
{% endtest %}
