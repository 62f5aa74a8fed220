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
        {{- 'last_key._scd2_last_key + ' if load.exists -}}
        row_number() over (
            {{- 'partition by ' ~ partition_by ~ ' ' if partition_by -}}
            order by {{ delta_scd2.columns_in_line(order, alias) -}}
        )
    {%- endif -%}
{% endmacro %}


{# The largest surrogate key ever assigned, including those of removed versions. #}
{% macro last_key_sql(load) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.surrogate_key) -%}
    {{- return('select greatest(coalesce(max(' ~ key ~ '), 0), ' ~ load.last_key
        ~ ') as _scd2_last_key from ' ~ load.target_as_read) -}}
{% endmacro %}
