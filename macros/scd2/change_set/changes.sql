{% macro _changed_versions_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns %}

select
    _scd2_action,
    {%- if names.surrogate_key %}
    {%- set new_key = delta_scd2.new_key_sql(load, partition_by='_scd2_action') %}
    {%- set key = 'coalesce(_scd2_stored.surrogate_key, ' ~ new_key ~ ')'
        if load.exists else new_key %}
    {{ key | indent(4) }} as {{ delta_scd2.backticked(names.surrogate_key) }},
    {%- endif %}
    {{ delta_scd2.backticked(names.durable_key) }},
    {%- for column in load.kept_columns %}
    {{ delta_scd2.unbound_column(column.name, load.bound_in_target) }},
    {%- endfor %}
    {{ delta_scd2.backticked(names.hash_diff) }},
    {%- if names.state_hash %}
    {{ delta_scd2.state_hash_sql(load) }} as {{ delta_scd2.backticked(names.state_hash) }},
    {%- endif %}
    {{ delta_scd2.backticked(names.effective_from) }},
    {{ delta_scd2.backticked(names.effective_to) }},
    {{ delta_scd2.backticked(names.is_current) }},
    {{ delta_scd2.backticked(names.is_deleted) }},
    {{ delta_scd2._is_new_end_sql(load) }} and not _scd2_ends_deleted as _scd2_newly_closed,
    {{ delta_scd2._is_new_end_sql(load) }} and _scd2_ends_deleted as _scd2_newly_deleted,
    _scd2_valid_to
    {%- if load.exists %},
    _scd2_copies
    {%- endif %}
    {%- if load.unavailable_columns %},
    {{ delta_scd2._gains_placeholder_sql(load) | indent(4) }} as _scd2_gains_placeholder
    {%- endif %}
    {%- if load.is_recovery %},
    {{ delta_scd2._is_rewritten_sql(load) | indent(4) }} as _scd2_is_rewritten
    {%- endif %}
from versions
    {%- if settings.has_sequence_keys and load.exists %}
cross join ({{ delta_scd2.last_key_sql(load) }}) as last_key
    {%- endif %}
    {%- if load.exists %}
where
    _scd2_action <> 'change'
    or {{ delta_scd2._differs_sql(load) | indent(4) }}
    {%- endif %}
{%- endmacro %}


{# Whether a version has a placeholder where it had none; one that was stored before the option was
   set may stay. #}
{% macro _gains_placeholder_sql(load) %}
    {%- set gains = [] -%}
    {%- for column in load.unavailable_columns -%}
        {%- set lacks = delta_scd2.has_unavailable_value_sql(load, [column]) -%}
        {%- do gains.append('(' ~ lacks ~ ' and not coalesce(_scd2_stored.lacked_' ~ loop.index ~ ', false))'
            if load.exists else lacks) -%}
    {%- endfor -%}
    {{- return(gains | join('\nor ')) -}}
{% endmacro %}


{# Whether a stored version would get other values or lose its end. Other columns give other values. #}
{% macro _is_rewritten_sql(load) -%}
    {%- set names = load.settings.columns -%}
    {%- if load.schema_changed -%}
false
    {%- else -%}
_scd2_action = 'change'
and (
    not (_scd2_stored.values_hash <=> {{ delta_scd2.backticked(names.hash_diff) }})
    or not (
        _scd2_stored.effective_to <=> {{ delta_scd2.open_end_literal(load.settings) }}
        or _scd2_stored.effective_to <=> {{ delta_scd2.backticked(names.effective_to) }}
    )
)
    {%- endif -%}
{%- endmacro %}


{% macro _is_new_end_sql(load) %}
    {%- set effective_to = delta_scd2.backticked(load.settings.columns.effective_to) -%}
    {%- set differs = ' and not (_scd2_stored.effective_to <=> ' ~ effective_to ~ ')'
        if load.exists -%}
    {{- return('_scd2_valid_to is not null' ~ (differs or '')) -}}
{% endmacro %}
