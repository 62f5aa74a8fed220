{# Ends each version at the next event that starts one; the events in between change nothing. #}
{% macro _islands_sql(load, history) %}
    {%- set settings = load.settings -%}
    {%- set hash_diff = delta_scd2.backticked(settings.columns.hash_diff) -%}
    {%- set names = delta_scd2.columns_in_line(load.kept_columns) -%}
    {%- set overwritten = '_scd2_overwritten' if delta_scd2._tells_newest(load)
        else delta_scd2._struct(load.overwrite_columns) %}

islands as (
    select
        *,
        lead(_scd2_at) over key_history as _scd2_valid_to,
        {%- if settings.keeps_deleted_current %}
        lead(_scd2_at, 2) over key_history as _scd2_returns_at,
        {%- endif %}
        coalesce(lead(_scd2_is_gone) over key_history, false) as _scd2_ends_deleted
        {%- if settings.keeps_tombstones %},
        lag(struct({{ names }}, {{ hash_diff }})) over key_history as _scd2_last
        {%- endif %}
        {%- if load.overwrite_columns %},
        last_value(if(_scd2_is_gone, null, {{ overwritten }})) ignore nulls over (
            partition by {{ history }}
            order by _scd2_at
            rows between unbounded preceding and unbounded following
        ) as _scd2_newest
        {%- endif %}
    from change_points
    window key_history as (partition by {{ history }}, _scd2_starts_version order by _scd2_at)
),
{%- endmacro %}
