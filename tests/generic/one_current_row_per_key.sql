{% test one_current_row_per_key(
    model, unique_key=none, effective_from=none, is_current=none, is_deleted=none, flag_values=none, hard_deletes=none
) %}
    {%- set dimension = delta_scd2.tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'is_current': is_current, 'is_deleted': is_deleted,
        'flag_values': flag_values, 'hard_deletes': hard_deletes
    }) -%}
select
    {{ dimension.key_columns }},
    count_if({{ dimension.is_current }} = {{ dimension.yes }}) as current_rows,
    max_by({{ dimension.is_current }} = {{ dimension.yes }}, {{ dimension.effective_from }}) as last_is_current,
    max_by({{ dimension.is_deleted }} = {{ dimension.yes }}, {{ dimension.effective_from }}) as last_is_deleted
from {{ model }}
group by {{ dimension.key_columns }}
    {%- if dimension.ends_deleted %}
having
    current_rows <> if(last_is_deleted, 0, 1)
    or coalesce(last_is_current = last_is_deleted, true)
    {%- else %}
having
    current_rows <> 1
    or not coalesce(last_is_current, false)
    {%- endif %}
{% endtest %}
