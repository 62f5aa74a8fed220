{# Versions and rows of the keys that a glance found changed. To hash these few keys takes less than to read the durable key of all. #}
{% macro _versions_of_changed_keys_sql(load) %}
    {%- set names = load.settings.columns -%}
    {%- set hint = changed_keys_hint(load) -%}
    {%- set select = 'select ' ~ hint if hint else 'select' -%}
concerned_versions as (
    {{ select }}
        stored.* except ({{ backticked(names.durable_key) }}),
        {{ hash_of(load.key_columns, 'stored') | indent(8) }} as {{ backticked(names.durable_key) }}
    from stored
    left semi join {{ load.changed_keys }} as concerned
        on {{ short_hash(load.key_columns, 'stored') }} = concerned.key_hash
),

concerned_rows as (
    {{ hashed_rows_sql(load, '(\n    ' ~ select ~ ' given.*\n    from ' ~ load.staged_rows ~ ' as given\n    left semi join '
        ~ load.changed_keys ~ ' as concerned\n        on given._scd2_key_hash = concerned.key_hash\n)') | trim | indent(4) }}
),

{% endmacro %}
