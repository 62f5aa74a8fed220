{# The rows of the model as the timeline wants them: hashed, dated, and with the columns that the dimension keeps. #}
{% macro scd2_extract_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set moment = _timestamp_literal(dimension.run_started_at) -%}
    {%- if settings.effective_at -%}
        {%- set moment = 'cast(' ~ _backticked(settings.effective_at) ~ ' as timestamp)' -%}
    {%- endif -%}
    {%- set kind = _change_kind_sql(_backticked(settings.change_type)) if settings.change_type -%}
    {%- set vanished = _names(dimension.vanished) -%}
with source as (
    select
        {%- for column in dimension.kept_columns %}
        {%- if column.name | lower in vanished %}
        cast(null as {{ column.data_type }}) as {{ _backticked(column.name) }},
        {%- else %}
        {{ _backticked(column.name) }},
        {%- endif %}
        {%- endfor %}
        {%- if kind %}
        {{ kind | indent(8) }} as _scd2_kind,
        {%- endif %}
        {%- if settings.inferred_member %}
        -- a placeholder is all that is known of its key, at any time
        if({{ _is_inferred(settings) }}, {{ _beginning_of_time() }}, {{ moment }}) as {{ _backticked(names.effective_from) }}
        {%- else %}
        {{ moment }} as {{ _backticked(names.effective_from) }}
        {%- endif %}
    from {{ dimension.source }}
)

select
    {{ _hash_of(dimension.key_columns) | indent(4) }} as {{ _backticked(names.durable_key) }},
    {{ _hash_of(dimension.tracked_columns) | indent(4) }} as {{ _backticked(names.hash_diff) }},
    {{ _backticked(names.effective_from) }},
    {%- if kind %}
    {{ "if(" ~ _is_inferred(settings) ~ ", false, _scd2_kind = 'delete')" if settings.inferred_member else "_scd2_kind = 'delete'" }} as _scd2_is_gone,
    {%- endif %}
    {{ _column_list(dimension.kept_columns) }}
from source
    {%- if kind %}
where
    _scd2_kind is null
    or _scd2_kind <> 'before'
    {%- elif dimension.rebuild_from %}
where
    {%- if settings.inferred_member %}
    {{ _is_inferred(settings) }} or
    {%- endif %}
    {{ _backticked(names.effective_from) }} is null
    or {{ _backticked(names.effective_from) }} >= {{ _timestamp_literal(dimension.rebuild_from) }}
    {%- elif dimension.applied | length > 1 %}
-- what was applied before the last extract need not be read again
where
    {{ _backticked(names.effective_from) }} is null
    or {{ _backticked(names.effective_from) }} not in (
        {%- for moment in (dimension.applied | sort)[:-1] %}
        {{ _timestamp_literal(moment) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )
    {%- endif %}
{% endmacro %}


{% macro _column_list(columns, alias=none, indent=4) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append((alias ~ '.' if alias else '') ~ _backticked(column.name)) -%}
    {%- endfor -%}
    {{- quoted | join(',\n' ~ ' ' * indent) -}}
{% endmacro %}


{# Where what has no beginning of its own begins: placeholders and the unknown member. #}
{% macro _beginning_of_time() %}
    {{- return(_timestamp_literal(_micros('1900-01-01'))) -}}
{% endmacro %}


{% macro _is_inferred(settings) %}
    {{- return('coalesce(' ~ _backticked(settings.inferred_member) ~ ', false)') -}}
{% endmacro %}
