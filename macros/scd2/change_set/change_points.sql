{# Marks the events that open a version: those that differ from the event before them. #}
{% macro _change_points_sql(load, history, events) %}
    {%- set hash_diff = delta_scd2.backticked(load.settings.columns.hash_diff) -%}
    {%- set keeps_tombstones = load.settings.keeps_tombstones -%}
    {%- set is_stored_tombstone = ' or coalesce(_scd2_stored.is_deleted = '
        ~ delta_scd2.flag_literal(load.settings, true) ~ ', false)'
        if keeps_tombstones and load.exists else '' %}

change_points as (
    select
        *,
        lag(struct(_scd2_is_gone, {{ hash_diff }})) over key_history as _scd2_before,
        case
            when _scd2_before is null then not _scd2_is_gone{{ is_stored_tombstone }}
            when _scd2_is_gone or _scd2_before._scd2_is_gone then _scd2_is_gone <> _scd2_before._scd2_is_gone
            else not ({{ hash_diff }} <=> _scd2_before.{{ hash_diff }})
        end as _scd2_starts_version
    from {{ events }}
    window key_history as (partition by {{ history }} order by _scd2_at)
),
{%- endmacro %}
