{% test one_current_row_per_key(model, unique_key=none, is_current=none, flag_values=none, hard_deletes=none) %}
    {%- set dimension = _tested_dimension(model, {
        'unique_key': unique_key, 'is_current': is_current, 'flag_values': flag_values, 'hard_deletes': hard_deletes
    }) -%}
select
    {{ dimension.key_columns }},
    count_if({{ dimension.is_current }} = {{ dimension.yes }}) as current_rows
from {{ model }}
group by {{ dimension.key_columns }}
    {%- if dimension.hard_deletes == 'invalidate' %}
having current_rows > 1
    {%- else %}
having current_rows <> 1
    {%- endif %}
{% endtest %}
