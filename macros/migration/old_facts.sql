{# Aggregates of the old table, for comparison with the written versions. #}
{% macro _old_facts_sql(load, old) %}
    {%- set names = load.settings.columns -%}
    {%- set from_column = delta_scd2.backticked(names.effective_from) -%}
    {%- set stays = ' filter (where not _scd2_is_repeat)' %}
select
    count(*){{ stays }} as versions,
    count(distinct {{ delta_scd2.backticked(names.durable_key) }}) as keys,
    count_if(_scd2_valid_to is null) as open_versions,
    unix_micros(min({{ from_column }})) as first_beginning,
    unix_micros(max({{ from_column }}){{ stays }}) as last_beginning,
    unix_micros(max(_scd2_valid_to) filter (where not _scd2_is_repeated)) as last_end,
    {{ delta_scd2._key_sum_sql(load, '_scd2_kept_key') if old.columns.surrogate_key else '0' }}
    {{- stays if old.columns.surrogate_key }} as surrogate_keys,
    (select max(_scd2_kept_key) from {{ old.versions }}) as last_key,
    count_if(_scd2_is_repeat) as repeats,
    mode(unix_micros(_scd2_next_at) - unix_micros(_scd2_valid_to), true) as usual_gap
from {{ old.versions }}
where not _scd2_is_tombstone
{% endmacro %}


{# The same aggregates of the written versions. #}
{% macro _new_facts_sql(load, old) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set from_column = delta_scd2.backticked(names.effective_from) -%}
    {%- set is_open = delta_scd2.is_open_sql(settings) %}
select
    count(*) as versions,
    count(distinct {{ delta_scd2.backticked(names.durable_key) }}) as keys,
    count_if({{ is_open }}) as open_versions,
    unix_micros(min({{ from_column }})) as first_beginning,
    unix_micros(max({{ from_column }})) as last_beginning,
    unix_micros(max({{ delta_scd2.end_sql(settings) }}) filter (where not ({{ is_open }}))) as last_end,
    {{ delta_scd2._key_sum_sql(load, delta_scd2.backticked(names.surrogate_key))
        if old.columns.surrogate_key else '0' }} as surrogate_keys
from {{ load.target }}
where
    {{ delta_scd2.is_not_unknown_member_sql(load) }}
    {%- if settings.keeps_tombstones %}
    and {{ delta_scd2.is_not_deleted_sql(settings) }}
    {%- endif %}
{% endmacro %}


{# A checksum over all versions and their surrogate keys. #}
{% macro _key_sum_sql(load, key) %}
    {%- set names = load.settings.columns -%}
    {{- return('bit_xor(xxhash64('
        ~ delta_scd2.backticked_names([names.durable_key, names.effective_from]) | join(', ')
        ~ ', ' ~ key ~ '))') -}}
{% endmacro %}
