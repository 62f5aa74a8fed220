{# Versions and rows of the keys that a glance found changed. To hash these few keys takes less than to read the durable key of all. #}
{% macro _versions_of_changed_keys_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set hint = changed_keys_hint(dimension) -%}
    {%- set select = 'select ' ~ hint if hint else 'select' -%}
concerned_versions as (
    {{ select }}
        stored.* except ({{ backticked(names.durable_key) }}),
        {{ hash_of(dimension.key_columns, 'stored') | indent(8) }} as {{ backticked(names.durable_key) }}
    from stored
    left semi join {{ dimension.concerned }} as concerned
        on {{ short_hash(dimension.key_columns, 'stored') }} = concerned.key_hash
),

concerned_rows as (
    {{ hashed_rows_sql(dimension, '(\n    ' ~ select ~ ' given.*\n    from ' ~ dimension.rows ~ ' as given\n    left semi join '
        ~ dimension.concerned ~ ' as concerned\n        on given._scd2_key_hash = concerned.key_hash\n)') | trim | indent(4) }}
),

{% endmacro %}
