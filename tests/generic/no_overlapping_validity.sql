{% test no_overlapping_validity(
    model, unique_key=none, effective_from=none, effective_to=none, closing_gap=none
) %}
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
    _scd2_next_from is not null
    and coalesce({{ dimension.effective_to }} > {{ dimension.next_closing }}, true)
{% endtest %}
