{# The rows of the model as the dimension takes them: with its columns alone, dated, and without those applied before. #}
{% macro scd2_rows_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set from_column = _backticked(settings.columns.effective_from) -%}
    {%- set moment = _timestamp_literal(dimension.run_started_at) -%}
    {%- if settings.effective_at -%}
        {%- set moment = 'cast(' ~ _backticked(settings.effective_at) ~ ' as timestamp)' -%}
    {%- endif -%}
    {%- set kind = _change_kind_sql(_backticked(settings.change_type)) if settings.change_type -%}
    {%- set vanished = _names(dimension.vanished) -%}
with source as (
    select
        {%- if dimension.bound %}
        -- a condition takes off what a column of a table carries: the length of a text, or a default
        {%- endif %}
        {%- for column in dimension.kept_columns %}
        {%- if column.name | lower in vanished %}
        cast(null as {{ column.data_type }}) as {{ _backticked(column.name) }},
        {%- else %}
        {{ _unbound(column.name, dimension.bound) if not column.given else _backticked(column.given) ~ ' as ' ~ _backticked(column.name) }},
        {%- endif %}
        {%- endfor %}
        {%- if kind %}
        {{ kind | indent(8) }} as _scd2_kind,
        {%- endif %}
        {%- if settings.inferred_member %}
        -- a placeholder is all that is known of its key, at any time
        if({{ _is_inferred(settings) }}, {{ _beginning_of_time() }}, {{ moment }}) as {{ from_column }}
        {%- else %}
        {{ moment }} as {{ from_column }}
        {%- endif %}
    from {{ dimension.source }}
)

    {%- if settings.source_kind == 'snapshot' %}

select
    *,
    {{ _short_hash(dimension.key_columns) }} as _scd2_key_hash,
    {{ _state_hash(dimension) }} as _scd2_state_hash
from source
    {%- else %}

select *
from source
    {%- endif %}
    {%- if kind %}
where
    _scd2_kind is null
    or _scd2_kind <> 'before'
    {%- elif dimension.rebuild_from %}
where
    {%- if settings.inferred_member %}
    {{ _is_inferred(settings) }} or
    {%- endif %}
    {{ from_column }} is null
    or {{ from_column }} >= {{ _timestamp_literal(dimension.rebuild_from) }}
    {%- elif settings.source_kind == 'snapshot' and dimension.applied | length > 1 %}
-- what was applied before the last extract need not be read again
where
    {{ from_column }} is null
    or {{ from_column }} not in (
        {%- for moment in (dimension.applied | sort)[:-1] %}
        {{ _timestamp_literal(moment) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )
    {%- endif %}
{% endmacro %}
