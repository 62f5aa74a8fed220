{# Whether the hash of a version is one of the columns that are tracked now. #}
{% macro _comparable_versions_sql(dimension, events) %}
    {%- set hash_diff = backticked(dimension.settings.columns.hash_diff) %}

-- past versions keep the hash of columns that are gone, which is equal to none of other columns
judged as (
    select
        *,
        _scd2_stored is null or {{ hash_diff }} <=> {{ hash_of(dimension.tracked_columns) | indent(8) }} as _scd2_is_comparable
    from {{ events }}
),
{%- endmacro %}


{# Whether past versions are read, which may hold the hash of other columns. #}
{% macro _meets_old_hashes(dimension) %}
    {{- return(dimension.exists and not changes_current_versions_only(dimension)) -}}
{% endmacro %}
