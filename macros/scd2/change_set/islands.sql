{# Ends each version at the next event that starts one; the events in between change nothing. #}
{% macro _islands_sql(load, history, change_points) %}
    {%- set settings = load.settings -%}
    {%- set hash_diff = delta_scd2.backticked(settings.columns.hash_diff) -%}
    {%- set names = delta_scd2.columns_in_line(load.kept_columns) -%}
    {%- set departed = ', _scd2_departed' if delta_scd2._keeps_apart(load) -%}
    {%- set overwritten = '_scd2_overwritten' if delta_scd2._tells_newest(load)
        else delta_scd2._struct(load.overwrite_columns) %}

islands as (
    select
        *,
        {{ delta_scd2._of_next_start_sql('_scd2_at') }} as _scd2_valid_to,
        {%- if settings.keeps_deleted_current %}
        {{ delta_scd2._of_next_start_sql('_scd2_at', 2) }} as _scd2_returns_at,
        {%- endif %}
        coalesce({{ delta_scd2._of_next_start_sql('_scd2_is_gone') }}, false) as _scd2_ends_deleted
        {%- if load.exists and not delta_scd2._is_ranked(load) %},
        {%- set version = history ~ ('' if delta_scd2.changes_current_versions_only(load) else ', _scd2_at') %}
        count(_scd2_stored) over (partition by {{ version }}) as _scd2_copies
        {%- endif %}
        {%- if settings.keeps_tombstones %},
        lag(
            if(_scd2_starts_version, struct({{ names }}, {{ hash_diff }}{{ departed }}), null)
        ) ignore nulls over key_history as _scd2_last
        {%- endif %}
        {%- if load.overwrite_columns %},
        last_value(if(_scd2_is_gone, null, {{ overwritten }})) ignore nulls over (
            partition by {{ history }}
            order by _scd2_at
            rows between unbounded preceding and unbounded following
        ) as _scd2_newest
        {%- endif %}
    from {{ change_points }}
    window key_history as (partition by {{ history }} order by _scd2_at)
),
{%- endmacro %}


{# The value of the event that starts the next version, or one after it. It skips the events in
   between, as a window over those that start versions would sort all events once more. #}
{% macro _of_next_start_sql(value, offset=1) -%}
lead(if(_scd2_starts_version, {{ value }}, null){{ ', ' ~ offset if offset > 1 }}) ignore nulls over key_history
{%- endmacro %}
