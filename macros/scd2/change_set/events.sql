{# Adds an event for each deletion after a state. #}
{% macro _events_sql(load, history, states) %}
    {%- set settings = load.settings -%}
    {%- if not settings.detects_absence and not settings.flags_deletions -%}
events as (
    select *
    from {{ states }}
),
    {%- else -%}
        {%- set before = 'with_deletes' if settings.detects_absence else states -%}
        {%- set deleted_at = before
            ~ ('._scd2_next_deletion_at' if settings.detects_absence else '._scd2_deleted_at') -%}
        {%- if settings.detects_absence -%}
            {%- set is_there = 'lead(_scd2_at) over key_history <=> _scd2_expected_at' -%}
            {%- set absence = 'if(' ~ is_there ~ ', null, _scd2_expected_at)' -%}
with_deletes as (
    select
        *,
        {{ 'coalesce(_scd2_deleted_at, ' ~ absence ~ ')' if settings.flags_deletions else absence }}
        {{- ' as _scd2_next_deletion_at' }}
    from {{ states }}
    window key_history as (partition by {{ history }} order by _scd2_at)
),

{% endif -%}
events as (
    select
        {{ before }}.* except (
            {{- (delta_scd2.backticked_columns(load.sequence_columns)
                + ['_scd2_at', '_scd2_is_gone', '_scd2_stored']) | join(', ') -}}
        ),
        {%- for column in load.sequence_columns %}
        {%- set sequence = before ~ '.' ~ delta_scd2.backticked(column.name) %}
        if(_scd2_event_at > {{ before }}._scd2_at, null, {{ sequence }})
        {{- ' as ' ~ delta_scd2.backticked(column.name) }},
        {%- endfor %}
        _scd2_event_at as _scd2_at,
        {{ before }}._scd2_is_gone or _scd2_event_at > {{ before }}._scd2_at as _scd2_is_gone,
        if(_scd2_event_at > {{ before }}._scd2_at, null, {{ before }}._scd2_stored) as _scd2_stored
    from {{ before }}
    lateral view explode(array_compact(array({{ before }}._scd2_at, {{ deleted_at }}))) as _scd2_event_at
),
    {%- endif %}
{%- endmacro %}
