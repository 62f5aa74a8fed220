{# The columns of the load log, as a query without rows. #}
{% macro load_log_sql() -%}
    {%- if execute and model is defined and model.resource_type == 'model'
        and model.config.materialized != 'load_log' -%}
        {#- In dbt, `+materialized` of the whole project overrides the configuration of packages. -#}
        {%- do delta_scd2.raise_refusal(
            '`materialized` is `' ~ model.config.materialized ~ '`, expected load_log',
            'set `+materialized: load_log` for ' ~ model.name ~ ' in dbt_project.yml, or '
                ~ '`+enabled: false` to keep no log'
        ) -%}
    {%- endif -%}
select
    {%- for name, data_type in delta_scd2._load_log_columns().items() %}
    cast(null as {{ data_type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
where false
{%- endmacro %}


{% macro _load_log_columns() %}
    {{- return({
        'invocation_id': 'string',
        'started_at': 'timestamp',
        'model': 'string',
        'relation': 'string',
        'status': 'string',
        'plan': 'string',
        'first_effective_at': 'timestamp',
        'last_effective_at': 'timestamp',
        'source_version': 'bigint',
        'rows_read': 'bigint',
        'opened': 'bigint',
        'closed': 'bigint',
        'deleted': 'bigint',
        'altered': 'bigint',
        'removed': 'bigint',
        'skipped': 'bigint',
        'seconds': 'double',
        'delta_version': 'bigint',
        'message': 'string',
    }) -}}
{% endmacro %}
