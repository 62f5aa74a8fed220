{# Stored versions and rows of the changed keys. Hashing these few keys is cheaper than reading the
   durable key of all versions. #}
{% macro _versions_of_changed_keys_sql(load) %}
    {%- set names = load.settings.columns -%}
    {%- set hint = delta_scd2.changed_keys_hint(load) -%}
    {%- set select = 'select ' ~ hint if hint else 'select' -%}
    {%- set key_hash = delta_scd2.hash_of(load.key_columns, 'stored') -%}
    {%- set rows = '(\n    ' ~ select ~ ' source_rows.*\n    from ' ~ load.staged_rows
        ~ ' as source_rows\n    left semi join ' ~ load.changed_keys
        ~ ' as changed_keys\n        on source_rows._scd2_key_hash = changed_keys.key_hash\n)' -%}
versions_of_changed_keys as (
    {{ select }}
        stored.* except ({{ delta_scd2.backticked(names.durable_key) }}),
        {{ key_hash | indent(8) }} as {{ delta_scd2.backticked(names.durable_key) }}
    from stored
    left semi join {{ load.changed_keys }} as changed_keys
        on {{ delta_scd2.short_hash(load.key_columns, 'stored') }} = changed_keys.key_hash
),

rows_of_changed_keys as (
    {{ delta_scd2.hashed_rows_sql(load, rows) | trim | indent(4) }}
),

{% endmacro %}
