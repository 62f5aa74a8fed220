{# The versions to open, to change and to remove. #}
{% macro _changed_versions_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns %}

select
    _scd2_action,
    {%- if names.surrogate_key %}
    {%- set new_key = new_key_sql(dimension, partition_by='_scd2_action') %}
    {{ ('coalesce(_scd2_stored.surrogate_key, ' ~ new_key ~ ')' if dimension.exists else new_key) | indent(4) }} as {{ backticked(names.surrogate_key) }},
    {%- endif %}
    {{ backticked(names.durable_key) }},
    {%- for column in dimension.kept_columns %}
    {{ unbound_column(column.name, dimension.bound_in_target) }},
    {%- endfor %}
    {{ backticked(names.hash_diff) }},
    {%- if names.state_hash %}
    {{ state_hash_sql(dimension) }} as {{ backticked(names.state_hash) }},
    {%- endif %}
    {{ backticked(names.effective_from) }},
    {{ backticked(names.effective_to) }},
    {{ backticked(names.is_current) }},
    {{ backticked(names.is_deleted) }},
    {{ _is_new_end(dimension) }} and not _scd2_ends_gone as _scd2_is_closed,
    {{ _is_new_end(dimension) }} and _scd2_ends_gone as _scd2_is_deleted,
    _scd2_ends_at
from dated
    {%- if settings.surrogate_key == 'sequence' and dimension.exists %}
cross join ({{ last_key_sql(dimension) }}) as last_key
    {%- endif %}
    {%- if dimension.exists %}
where
    _scd2_action <> 'change'
    or {{ _differs_sql(dimension) | indent(4) }}
    {%- endif %}
{%- endmacro %}


{% macro _is_new_end(dimension) %}
    {%- set effective_to = backticked(dimension.settings.columns.effective_to) -%}
    {%- set differs = ' and not (_scd2_stored.effective_to <=> ' ~ effective_to ~ ')' if dimension.exists -%}
    {{- return('_scd2_ends_at is not null' ~ (differs or '')) -}}
{% endmacro %}
