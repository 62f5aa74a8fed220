{# The surrogate key of a new version. #}
{% macro new_key_sql(load, alias=none, partition_by=none) %}
    {%- set columns = load.settings.columns -%}
    {%- if load.settings.has_hash_keys -%}
        {{- delta_scd2.hash_of([
            {'name': columns.durable_key, 'data_type': 'hash'},
            {'name': columns.effective_from, 'data_type': 'timestamp'},
        ], alias) -}}
    {%- else -%}
        {%- set order = [{'name': columns.effective_from}] + load.key_columns -%}
        {%- set number = 'row_number() over ('
            ~ ('partition by ' ~ partition_by ~ ' ' if partition_by else '')
            ~ 'order by ' ~ delta_scd2.columns_in_line(order, alias) ~ ')' -%}
        {{- delta_scd2.added_to_last_key_sql(
            'last_key._scd2_last_key', number, load.target,
            load.name, ', and ' ~ delta_scd2.how_to_discard_history()
        ) if load.exists else number -}}
    {%- endif -%}
{% endmacro %}


{# Adds to the last key. Beyond the largest int, an addition would go on below zero. #}
{% macro added_to_last_key_sql(last_key, number, target, name, remedy='') -%}
    {%- set message = name ~ ': the surrogate keys of ' ~ target
        ~ ' would exceed 2147483647, the largest int. No row was written. Remedy: set '
        ~ '`surrogate_key` to `hash`' ~ remedy -%}
coalesce(
    try_add({{ last_key }}, {{ number }}),
    raise_error({{ delta_scd2.sql_string(message) }})
)
{%- endmacro %}


{# The largest surrogate key ever assigned, including those of removed versions. #}
{% macro last_key_sql(load) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.surrogate_key) -%}
    {{- return('select greatest(coalesce(max(' ~ key ~ '), 0), '
        ~ load.properties.get('scd2.last_key', 0) | int ~ ') as _scd2_last_key from ' ~ load.target_as_read) -}}
{% endmacro %}


{# The surrogate key of the unknown member. #}
{% macro unknown_member_key(settings) %}
    {{- return('-1' if settings.has_sequence_keys else delta_scd2.hash_of_nulls(settings.unique_key)) -}}
{% endmacro %}
