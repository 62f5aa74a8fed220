{% macro _changed_versions_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns %}

select
    _scd2_action,
    {%- if names.surrogate_key %}
    {%- set new_key = new_key_sql(load, partition_by='_scd2_action') %}
    {%- set key = 'coalesce(_scd2_stored.surrogate_key, ' ~ new_key ~ ')' if load.exists else new_key %}
    {{ key | indent(4) }} as {{ backticked(names.surrogate_key) }},
    {%- endif %}
    {{ backticked(names.durable_key) }},
    {%- for column in load.kept_columns %}
    {{ unbound_column(column.name, load.bound_in_target) }},
    {%- endfor %}
    {{ backticked(names.hash_diff) }},
    {%- for column in derived_columns(load) %}
    {{ column.sql }} as {{ backticked(column.name) }},
    {%- endfor %}
    {{ backticked(names.effective_from) }},
    {{ backticked(names.effective_to) }},
    {{ backticked(names.is_current) }},
    {{ backticked(names.is_deleted) }},
    {{ _is_new_end(load) }} and not _scd2_ends_gone as _scd2_is_closed,
    {{ _is_new_end(load) }} and _scd2_ends_gone as _scd2_is_deleted,
    _scd2_ends_at
from versions
    {%- if settings.has_sequence_keys and load.exists %}
cross join ({{ last_key_sql(load) }}) as last_key
    {%- endif %}
    {%- if load.exists %}
where
    _scd2_action <> 'change'
    or {{ _differs_sql(load) | indent(4) }}
    {%- endif %}
{%- endmacro %}


{% macro _is_new_end(load) %}
    {%- set effective_to = backticked(load.settings.columns.effective_to) -%}
    {%- set differs = ' and not (_scd2_stored.effective_to <=> ' ~ effective_to ~ ')' if load.exists -%}
    {{- return('_scd2_ends_at is not null' ~ (differs or '')) -}}
{% endmacro %}
