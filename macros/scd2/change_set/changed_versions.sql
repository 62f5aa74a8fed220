{# Versions and rows of the keys that a glance found changed. To hash these few keys takes less than to read the durable key of all. #}
{% macro _concerned_versions_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set hint = _concerned_hint(dimension) -%}
    {%- set select = 'select ' ~ hint if hint else 'select' -%}
concerned_versions as (
    {{ select }}
        stored.* except ({{ _backticked(names.durable_key) }}),
        {{ _hash_of(dimension.key_columns, 'stored') | indent(8) }} as {{ _backticked(names.durable_key) }}
    from stored
    left semi join {{ dimension.concerned }} as concerned
        on {{ _short_hash(dimension.key_columns, 'stored') }} = concerned.key_hash
),

concerned_rows as (
    {{ scd2_extract_sql(dimension, '(\n    ' ~ select ~ ' given.*\n    from ' ~ dimension.rows ~ ' as given\n    left semi join '
        ~ dimension.concerned ~ ' as concerned\n        on given._scd2_key_hash = concerned.key_hash\n)') | trim | indent(4) }}
),

{% endmacro %}
