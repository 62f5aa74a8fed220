{# The recomputed versions, each with the action to take. #}
{% macro _versions_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set keeps_tombstones = settings.keeps_tombstones %}

versions as (
    select
        {%- set recomputed = delta_scd2._recomputed(load) %}
        *{{ ' except (' ~ delta_scd2.backticked_names(recomputed.keys()) | join(', ') ~ ')' if recomputed }},
        {%- for name, expression in recomputed.items() %}
        {{ expression }} as {{ delta_scd2.backticked(name) }},
        {%- endfor %}
        _scd2_at as {{ delta_scd2.backticked(names.effective_from) }},
        {%- set closing = delta_scd2.closing_sql(settings, '_scd2_valid_to') %}
        {%- set effective_to = delta_scd2.backticked(names.effective_to) %}
        coalesce({{ closing }}, {{ delta_scd2.open_end_literal(settings) }}) as {{ effective_to }},
        {{ delta_scd2.flag_sql(
            settings, delta_scd2._becomes_current_sql(settings)
        ) }} as {{ delta_scd2.backticked(names.is_current) }},
        {%- set is_deleted = '_scd2_is_gone' if keeps_tombstones else '_scd2_ends_deleted' %}
        {{ delta_scd2.flag_sql(settings, is_deleted) }} as {{ delta_scd2.backticked(names.is_deleted) }},
        {%- if load.exists %}
        case
            when _scd2_stored is null then 'open'
            when {{ delta_scd2._is_removed_sql(load) }} then 'remove'
            else 'change'
        end as _scd2_action
        {%- else %}
        'open' as _scd2_action
        {%- endif %}
    from islands
    where
        {%- set is_begun = '_scd2_starts_version'
            ~ (' and not _scd2_is_gone' if not keeps_tombstones else '') %}
        {{ '_scd2_stored is not null\n        or (' ~ is_begun ~ ')' if load.exists else is_begun }}
)
{%- endmacro %}


{% macro _becomes_current_sql(settings) %}
    {%- if settings.keeps_deleted_current -%}
        {{- return('_scd2_valid_to is null or (_scd2_ends_deleted and _scd2_returns_at is null)') -}}
    {%- endif -%}
    {{- return('_scd2_valid_to is null') -}}
{% endmacro %}


{% macro _is_removed_sql(load) %}
    {%- set reasons = ['not _scd2_starts_version'] -%}
    {%- do reasons.append('_scd2_is_gone') if not load.settings.keeps_tombstones -%}
    {%- do reasons.append('_scd2_is_replaced') if load.rebuild_from -%}
    {{- return(reasons | join(' or ')) -}}
{% endmacro %}


{# The columns that do not simply come from the event that opens a version: a tombstone has the
   values of the version before it, and overwritten columns have their newest values in every
   version. #}
{% macro _recomputed(load) %}
    {%- set expressions = {} -%}
    {%- if load.settings.keeps_tombstones -%}
        {%- set own = load.overwrite_columns + load.sequence_columns -%}
        {%- for column in load.kept_columns + [{'name': load.settings.columns.hash_diff}]
            if column not in own -%}
            {%- set name = delta_scd2.backticked(column.name) -%}
            {%- do expressions.update({
                column.name: 'if(_scd2_is_gone and _scd2_last is not null, _scd2_last.'
                    ~ name ~ ', ' ~ name ~ ')'
            }) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for column in load.overwrite_columns -%}
        {%- set name = delta_scd2.backticked(column.name) -%}
        {%- do expressions.update({
            column.name: 'if(_scd2_newest is null, ' ~ name ~ ', _scd2_newest.' ~ name ~ ')'
        }) -%}
    {%- endfor -%}
    {{- return(expressions) -}}
{% endmacro %}
