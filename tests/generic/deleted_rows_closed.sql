{% test deleted_rows_closed(
    model, unique_key=none, effective_from=none, effective_to=none, is_current=none, is_deleted=none, flag_values=none,
    open_end=none, hard_deletes=none
) %}
    {%- if delta_scd2.shared_count(model) == 0 -%}
{{ delta_scd2.no_failing_rows_sql() }}
    {%- else -%}
    {%- set dimension = delta_scd2.tested_dimension(model, {
        'unique_key': unique_key, 'effective_from': effective_from, 'effective_to': effective_to,
        'is_current': is_current, 'is_deleted': is_deleted, 'flag_values': flag_values, 'open_end': open_end,
        'hard_deletes': hard_deletes
    }) -%}
select
    {{ dimension.key_columns }},
    {{ dimension.effective_from }},
    {{ dimension.effective_to }},
    {{ dimension.is_current }},
    {{ dimension.is_deleted }}
from {{ model }}
where
    {{ delta_scd2.deleted_but_open_sql(dimension) }}
    {%- endif -%}
{% endtest %}
