{# Checks the change set and returns the number of versions per action. #}
{% macro checked_summary(load) %}
    {%- set parts = run_query(delta_scd2._summary_sql(load)) -%}
    {%- do delta_scd2._check_repeated_versions(load, parts.columns['repeated'].values() | sum) -%}
    {%- do delta_scd2._check_short_versions(load, parts.columns['too_short'].values() | sum | int) -%}
    {%- do delta_scd2._check_without_value(load, parts.columns['without_value'].values() | sum)
        if load.unavailable_columns -%}
    {%- do delta_scd2._check_recovery(load) if load.is_recovery -%}
    {#- An older version that a new set of columns merges with the next one takes its end over. -#}
    {%- for part in parts if load.settings.reads_extracts and part['_scd2_deleted_at'] is not none
        and part['_scd2_deleted_at'] | int in load.pending_extracts -%}
        {%- do delta_scd2._check_many_deletions(
            load, part['_scd2_deleted_at'] | int, part['deleted'] | int
        ) -%}
    {%- endfor -%}
    {%- set summary = {} -%}
    {%- for name in load.summary -%}
        {%- do summary.update({name: parts.columns[name].values() | sum | int}) -%}
    {%- endfor -%}
    {{- return(summary) -}}
{% endmacro %}


{# The numbers of versions per action: one row for each time with deletions, and one for the
   rest. #}
{% macro _summary_sql(load) %}
select
    if(_scd2_action <> 'remove' and _scd2_newly_deleted, unix_micros(_scd2_valid_to), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_newly_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_newly_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted) as altered,
    count_if({{ delta_scd2._is_too_short_sql(load) }}) as too_short,
    {%- if load.unavailable_columns %}
    count_if(
        {{ delta_scd2._is_without_value_sql(load) | indent(8) }}
    ) as without_value,
    {%- endif %}
    {{ 'count_if(_scd2_copies > 1)' if load.exists else '0' }} as repeated
from {{ load.changes }}
group by _scd2_deleted_at
{% endmacro %}
