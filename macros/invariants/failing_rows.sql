{# What the tests of a dimension call a failing row, each once for the test itself and for the count
   of all of them. #}

{# By key: how many rows are current, and what the last one is. #}
{% macro current_rows_sql(dimension) -%}
    count_if({{ dimension.is_current }} = {{ dimension.yes }}) as current_rows,
    max_by({{ dimension.is_current }} = {{ dimension.yes }}, {{ dimension.effective_from }}) as last_is_current
    {%- if dimension.ends_deleted %},
    max_by({{ dimension.is_deleted }} = {{ dimension.yes }}, {{ dimension.effective_from }}) as last_is_deleted
    {%- endif %}
{%- endmacro %}


{% macro lacks_its_current_row_sql(dimension) -%}
    {%- if dimension.ends_deleted -%}
    current_rows <> if(last_is_deleted, 0, 1)
    or coalesce(last_is_current = last_is_deleted, true)
    {%- else -%}
    current_rows <> 1
    or not coalesce(last_is_current, false)
    {%- endif -%}
{%- endmacro %}


{# Every version with the start of the next version of its key. #}
{% macro neighbours_sql(dimension, model) %}
    select
        *,
        {{ delta_scd2.next_from_sql(dimension) }}
    from {{ model }}
{%- endmacro %}


{% macro next_from_sql(dimension) -%}
        lead({{ dimension.effective_from }}) over (
            partition by {{ dimension.key_columns }}
            order by {{ dimension.effective_from }}, {{ dimension.effective_to }} nulls last
        ) as _scd2_next_from
{%- endmacro %}


{% macro overlaps_next_version_sql(dimension) -%}
    _scd2_next_from is not null
    and coalesce({{ dimension.effective_to }} > {{ dimension.next_closing }}, true)
{%- endmacro %}


{% macro interval_problem_sql(dimension) -%}
        case
            when {{ dimension.effective_from }} is null then 'has no beginning'
            {%- if not dimension.may_have_null_ends %}
            when {{ dimension.effective_to }} is null then 'has no end'
            {%- endif %}
            when {{ dimension.effective_from }} >= {{ dimension.effective_to }} then 'ends before it begins'
            {%- if dimension.keeps_tombstones %}
            when {{ dimension.effective_to }} < {{ dimension.next_closing }} then 'leaves a gap'
            when _scd2_next_from is null and not ({{ dimension.is_open }}) then 'is the last and has an end'
            {%- else %}
            {%- set is_kept = '' if dimension.ignores_deletes
                else '\n                and ' ~ dimension.is_deleted ~ ' = ' ~ dimension.no %}
            when
                {{ dimension.effective_to }} < {{ dimension.next_closing }}
                {{- is_kept }}
                then 'leaves a gap without a deletion'
            when
                _scd2_next_from is null
                and not ({{ dimension.is_open }})
                {{- is_kept }}
                then 'ends without a deletion'
            {%- if not dimension.ignores_deletes %}
            when
                {{ dimension.effective_to }} >= {{ dimension.next_closing }}
                and {{ dimension.is_deleted }} = {{ dimension.yes }}
                then 'is deleted where the next version begins'
            {%- endif %}
            {%- endif %}
        end
{%- endmacro %}


{# The previous version of the key. #}
{% macro previous_version_sql(dimension) -%}
        lag({{ dimension.effective_from }}) over key_history as _scd2_previous_from,
        lag({{ dimension.is_deleted }}) over key_history as _scd2_previous_is_deleted,
        lag(_scd2_tracked) over key_history as _scd2_previous_tracked
{%- endmacro %}


{% macro key_history_sql(dimension) -%}
    window key_history as (partition by {{ dimension.key_columns }} order by {{ dimension.effective_from }})
{%- endmacro %}


{# A version that repeats the one before it. A tombstone repeats the version that it ends. #}
{% macro is_not_a_new_version_sql(dimension) -%}
    {%- if dimension.keeps_tombstones -%}
    if(
        {{ dimension.is_deleted }} = {{ dimension.yes }},
        _scd2_previous_from is null
        or _scd2_previous_is_deleted = {{ dimension.yes }}
        or not _scd2_tracked <=> _scd2_previous_tracked,
        _scd2_previous_is_deleted = {{ dimension.no }}
        and _scd2_tracked <=> _scd2_previous_tracked
    )
    {%- else -%}
    _scd2_previous_is_deleted = {{ dimension.no }}
    and _scd2_tracked <=> _scd2_previous_tracked
    {%- endif %}
{%- endmacro %}


{% macro deleted_but_open_sql(dimension) -%}
    -- the flag has neither of its two values
    not coalesce({{ dimension.is_deleted }} in ({{ dimension.yes }}, {{ dimension.no }}), false)
    or (
        {{ dimension.is_deleted }} = {{ dimension.yes }}
        {%- if dimension.ignores_deletes %}
        -- no load writes such a row
        {%- elif dimension.ends_deleted %}
        and ({{ dimension.is_open }} or {{ dimension.is_current }} = {{ dimension.yes }})
        {%- elif dimension.keeps_tombstones %}
        -- the tombstone of a deleted key is its open, current row
        and ({{ dimension.is_open }})
        and {{ dimension.is_current }} = {{ dimension.no }}
        {%- else %}
        and ({{ dimension.is_open }})
        {%- endif %}
    )
{%- endmacro %}
