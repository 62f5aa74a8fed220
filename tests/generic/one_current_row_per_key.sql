{% test one_current_row_per_key(
    model, unique_key=none, effective_from=none, is_current=none, is_deleted=none, flag_values=none, hard_deletes=none
) %}
    {%- if delta_scd2.shared_count(model) == 0 -%}
{{ delta_scd2.no_failing_rows_sql() }}
    {%- else -%}
    {%- set dimension = delta_scd2.tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'is_current': is_current, 'is_deleted': is_deleted,
        'flag_values': flag_values, 'hard_deletes': hard_deletes
    }) -%}
select
    {{ dimension.key_columns }},
    {{ delta_scd2.current_rows_sql(dimension) }}
from {{ model }}
group by {{ dimension.key_columns }}
having
    {{ delta_scd2.lacks_its_current_row_sql(dimension) }}
    {%- endif -%}
{% endtest %}
