{# Whether the hash of a version is one of the columns that are tracked now. #}
{% macro _comparable_versions_sql(load, events) %}
    {%- set hash_diff = delta_scd2.backticked(load.settings.columns.hash_diff) %}

-- past versions keep the hash of columns that are gone, which is equal to none of other columns
comparable_events as (
    select
        *,
        _scd2_stored is null or {{ hash_diff }} <=> {{ delta_scd2.hash_of(load.tracked_columns) | indent(8) }} as _scd2_is_comparable
    from {{ events }}
),
{%- endmacro %}


{# Whether past versions are read, which may hold the hash of other columns. #}
{% macro _meets_old_hashes(load) %}
    {{- return(load.exists and not delta_scd2.changes_current_versions_only(load)) -}}
{% endmacro %}
