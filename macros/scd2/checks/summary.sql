{# What the change set would do, and its size; refused where it deletes too much or ends a
   version before it begins. #}
{% macro checked_summary(load) %}
    {%- set settings = load.settings -%}
    {%- set parts = run_query(delta_scd2._summary_sql(load)) -%}
    {%- if parts.columns['repeated'].values() | sum -%}
        {%- set version = delta_scd2._version_columns(load) -%}
        {%- do delta_scd2._raise_repeated_versions(load,
            delta_scd2.query_keys(delta_scd2._changed_keys_sql(load, '(' ~ version ~ ') in (select ' ~ version
            ~ ' from ' ~ load.changes ~ " where _scd2_action <> 'open' group by " ~ version ~ ' having count(*) > 1)'))) -%}
    {%- endif -%}
    {%- set too_short = parts.columns['too_short'].values() | sum | int -%}
    {%- if too_short -%}
        {%- do delta_scd2.raise_refusal(
            too_short ~ ' version(s) would end before they begin, as `closing_gap` is ' ~ settings.closing_gap ~ ': '
                ~ delta_scd2.query_keys(delta_scd2._changed_keys_sql(load, "_scd2_action <> 'remove' and "
                    ~ delta_scd2.backticked(settings.columns.effective_to) ~ ' <= '
                    ~ delta_scd2.backticked(settings.columns.effective_from))),
            'leave more time between the rows of a key, or choose a smaller `closing_gap`'
        ) -%}
    {%- endif -%}
    {%- do delta_scd2._check_recovery(load) if load.is_recovery and not settings.inferred_member -%}
    {%- for part in parts if settings.reads_extracts and part['_scd2_deleted_at'] is not none -%}
        {%- do delta_scd2._check_many_deletions(load, part['_scd2_deleted_at'] | int, part['deleted'] | int) -%}
    {%- endfor -%}
    {%- set summary = {} -%}
    {%- for name in load.summary -%}
        {%- do summary.update({name: parts.columns[name].values() | sum | int}) -%}
    {%- endfor -%}
    {{- return(summary) -}}
{% endmacro %}


{# What the change set would do; one row for each time at which it deletes, and one for all the
   rest. #}
{% macro _summary_sql(load) %}
    {%- set names = load.settings.columns -%}
select
    if(_scd2_action <> 'remove' and _scd2_is_deleted, unix_micros(_scd2_ends_at), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_is_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_is_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_is_closed and not _scd2_is_deleted) as altered,
    {%- set interval = [delta_scd2.backticked(names.effective_to), delta_scd2.backticked(names.effective_from)] %}
    count_if(_scd2_action <> 'remove' and {{ interval | join(' <= ') }}) as too_short,
    count_if(_scd2_copies > 1) as repeated
from (
    select
        *,
        {{ "count_if(_scd2_action <> 'open') over (partition by " ~ delta_scd2._version_columns(load) ~ ')' if load.exists else '1' -}}
        {{ ' as _scd2_copies' }}
    from {{ load.changes }}
)
group by _scd2_deleted_at
{% endmacro %}


{# What tells a stored version from all others that a load reads. #}
{% macro _version_columns(load) %}
    {%- set names = load.settings.columns -%}
    {%- set beginning = [] if delta_scd2.changes_current_versions_only(load) else [names.effective_from] -%}
    {{- return(delta_scd2.backticked_names([names.durable_key] + beginning) | join(', ')) -}}
{% endmacro %}


{# Up to ten keys of the change set. #}
{% macro _changed_keys_sql(load, where) %}
select distinct {{ delta_scd2.key_text_sql(load) }} as business_key
from {{ load.changes }}
where {{ where }}
order by business_key
limit 10
{% endmacro %}
