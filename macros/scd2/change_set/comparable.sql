{# Whether the hash of a version covers the currently tracked columns. #}
{% macro _comparable_versions_sql(load, events) %}
    {%- set hash_diff = delta_scd2.backticked(load.settings.columns.hash_diff) -%}
    {%- set new_hash = delta_scd2.hash_of(load.tracked_columns) | indent(8) %}

-- a past version may have a hash of former columns, which matches no current hash
comparable_events as (
    select
        *,
        _scd2_stored is null or {{ hash_diff }} <=> {{ new_hash }} as _scd2_is_comparable
    from {{ events }}
),
{%- endmacro %}


{# Whether past versions are read; their hashes may cover other columns. #}
{% macro _meets_old_hashes(load) %}
    {{- return(load.exists and not delta_scd2.changes_current_versions_only(load)) -}}
{% endmacro %}
