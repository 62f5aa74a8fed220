{% test deleted_rows_closed(
    model, unique_key=none, effective_from=none, effective_to=none, is_current=none, is_deleted=none, flag_values=none,
    open_end=none, hard_deletes=none
) %}
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
    -- the flag has neither of its two values
    not coalesce({{ dimension.is_deleted }} in ({{ dimension.yes }}, {{ dimension.no }}), false)
    or (
        {{ dimension.is_deleted }} = {{ dimension.yes }}
        {%- if dimension.ends_deleted %}
        and ({{ dimension.is_open }} or {{ dimension.is_current }} = {{ dimension.yes }})
        {%- elif dimension.keeps_tombstones %}
        -- the tombstone of a deleted key is its open, current row
        and ({{ dimension.is_open }})
        and {{ dimension.is_current }} = {{ dimension.no }}
        {%- else %}
        and ({{ dimension.is_open }})
        {%- endif %}
    )
{% endtest %}
