{# One row a key and span of time between two boundaries of any side, with what each side said then. #}
{% macro _combined_spans_sql(sides, keys, require) -%}
    {%- set settings = sides[0].settings -%}
with
{%- for side in sides %}
{{ delta_scd2._side_sql(side, keys) }},
{% endfor %}
boundaries as (
{%- for side in sides %}
    select {{ keys | join(', ') }}, _scd2_valid_from as _scd2_boundary from {{ side.alias }}
    union
    select {{ keys | join(', ') }}, _scd2_valid_to from {{ side.alias }} where _scd2_valid_to is not null
    {{- '\n    union' if not loop.last }}
{%- endfor %}
),

spans as (
    select
        *,
        lead(_scd2_boundary) over (
            partition by {{ keys | join(', ') }} order by _scd2_boundary
        ) as _scd2_next_boundary
    from boundaries
)

select
    spans.{{ keys | join(',\n    spans.') }},
    spans._scd2_boundary as {{ delta_scd2.backticked(settings.columns.effective_from) }},
    coalesce(spans._scd2_next_boundary, {{ delta_scd2.open_end_literal(settings) }}) as {{
        delta_scd2.backticked(settings.columns.effective_to) }}
    {%- for side in sides -%}
        {%- for name in side.result.values() %},
    {{ side.alias }}.{{ delta_scd2.backticked(name) }}
        {%- endfor -%}
    {%- endfor %}
from spans
    {%- for side in sides %}
{{ 'inner' if require == 'all' or require == 'first' and loop.first else 'left' }} join {{ side.alias }}
    on
        {%- for key in keys %}
        {{ 'and ' if not loop.first }}spans.{{ key }} <=> {{ side.alias }}.{{ key }}
        {%- endfor %}
        and {{ side.alias }}._scd2_valid_from <= spans._scd2_boundary
        and ({{ side.alias }}._scd2_valid_to > spans._scd2_boundary or {{ side.alias }}._scd2_valid_to is null)
    {%- endfor %}
    {%- if require == 'any' %}
where
        {%- for side in sides %}
    {{ 'or ' if not loop.first }}{{ side.alias }}._scd2_valid_from is not null
        {%- endfor %}
    {%- endif %}
{%- endmacro %}


{# The versions of a side, each until the next or a deletion; null is an open end, whatever stands for
   it in the table. #}
{% macro _side_sql(side, keys) -%}
    {%- set settings = side.settings -%}
    {%- set effective_to = 'cast(' ~ delta_scd2.backticked(settings.columns.effective_to) ~ ' as timestamp)' -%}
    {%- set closed_end = effective_to if settings.open_end is none
        else 'nullif(' ~ effective_to ~ ', ' ~ delta_scd2.open_end_literal(settings) ~ ')' -%}
{{ side.alias }} as (
    select
        {{ keys | join(',\n        ') }},
        cast({{ delta_scd2.backticked(settings.columns.effective_from) }} as timestamp) as _scd2_valid_from,
        {{ delta_scd2.end_of_sql(settings, closed_end) }} as _scd2_valid_to
    {%- for column, name in side.result.items() %},
        {{ delta_scd2.backticked(column) }}{{ ' as ' ~ delta_scd2.backticked(name) if name != column }}
    {%- endfor %}
    from {{ delta_scd2._all_versions(side.relation) }}
    {%- if settings.keeps_tombstones %}
    where {{ delta_scd2.is_not_deleted_sql(settings) }}
    {%- endif %}
)
{%- endmacro %}


{# The spans without boundaries at which no column of the result changes. #}
{% macro _merged_spans_sql(spans, sides, keys) -%}
    {%- set interval = sides[0].settings.columns -%}
    {%- set effective_from = delta_scd2.backticked(interval.effective_from) -%}
    {%- set effective_to = delta_scd2.backticked(interval.effective_to) -%}
    {%- set columns = [] -%}
    {%- for side in sides -%}
        {%- do columns.extend(delta_scd2.backticked_names(side.result.values())) -%}
    {%- endfor -%}
with
combined as (
    {{ spans | indent }}
),

compared as (
    select
        *,
        lag({{ effective_to }}) over history <=> {{ effective_from }}
        {%- for column in columns %}
        and lag({{ column }}) over history <=> {{ column }}
        {%- endfor %} as _scd2_continues
    from combined
    window history as (partition by {{ keys | join(', ') }} order by {{ effective_from }})
),

numbered as (
    select
        *,
        count_if(not _scd2_continues) over (
            partition by {{ keys | join(', ') }} order by {{ effective_from }}
        ) as _scd2_version
    from compared
)

select
    {{ keys | join(',\n    ') }},
    min({{ effective_from }}) as {{ effective_from }},
    max_by({{ effective_to }}, {{ effective_from }}) as {{ effective_to }}
    {%- for column in columns %},
    {{ column }}
    {%- endfor %}
from numbered
group by {{ (keys + columns + ['_scd2_version']) | join(', ') }}
{%- endmacro %}
