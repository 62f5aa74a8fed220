{# All that the checks and the plan of a load need to know of a comparison: numbers of rows, times
   in microseconds since the epoch or 0, and the fingerprint of what was read. #}
{% macro comparison_counts(load) %}
    {%- set counts = run_query(delta_scd2._comparison_counts_sql(load)).rows[0] -%}
    {{- return(delta_scd2.numbers_of(counts, absent=0)) -}}
{% endmacro %}


{% macro _comparison_counts_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set hash_diff = delta_scd2.backticked(settings.columns.hash_diff) -%}
    {%- set open_end = delta_scd2.open_end_literal(settings) -%}
    {%- set ends = "_scd2_effect in ('changed', 'deleted')" -%}
    {%- set wrong = [
        delta_scd2.has_no_time_sql(load), delta_scd2.any_is_null_sql(load.key_columns),
        delta_scd2.is_unknown_change_sql(load), delta_scd2.has_no_place_sql(load),
        delta_scd2.has_unavailable_value_sql(load),
    ] | reject('equalto', 'false') | list -%}
    {%- for column in delta_scd2.lossy_partitions(load.kept_columns, load.detail.partitions) -%}
        {%- do wrong.append(delta_scd2.is_lost_partition_sql(column)) -%}
    {%- endfor -%}
    {%- set row, is_first_change = '_scd2_key_hash', "_scd2_effect = 'changed'" -%}
    {%- set returned = "count_if(_scd2_effect = 'returned')" -%}
    {%- if not settings.reads_extracts -%}
        {#- A batch can have several rows of a key. -#}
        {%- set row = 'struct(_scd2_key_hash, ' ~ effective_from ~ ')' -%}
        {%- set is_first_change = is_first_change ~ ' and _scd2_time_before is null' -%}
        {%- set returned = 'count(distinct _scd2_key_hash) filter ('
            ~ "where _scd2_effect = 'returned' and _scd2_is_deleted)" -%}
    {%- endif -%}
select
    unix_micros(min({{ effective_from }})) as first_time,
    unix_micros(max({{ effective_from }})) as last_time,
    count_if(_scd2_is_source_row) as row_count,
    count_if(_scd2_is_source_row and ({{ wrong | join(' or ') }})) as wrong_rows,
    {%- if not settings.reads_extracts %}
    count_if(
        {{ delta_scd2._is_late_row_sql(load) | indent(8) }}
    ) as late_rows,
    count_if({{ delta_scd2.opens_version_sql() }} and _scd2_stored_from is null) as new,
    {%- endif %}
    count(*) - count(distinct {{ row }}) as repeated,
    count_if({{ delta_scd2.opens_version_sql() }}) as opened,
    count_if(_scd2_effect = 'changed') as changed,
    {{ returned }} as returned,
    count_if(_scd2_effect = 'deleted') as deleted,
    count_if({{ is_first_change }} and {{ hash_diff }} <=> _scd2_stored_hash) as same_hash,
    unix_micros(max(_scd2_stored_from) filter (where {{ ends }})) as last_ending,
    {{ delta_scd2.fingerprint_sql('_scd2_file_hash') }} as fingerprint,
    unix_micros(greatest(
        max(_scd2_stored_from),
        max({{ delta_scd2.end_of_sql(settings, '_scd2_stored_to') }}) filter (
            where _scd2_is_deleted and not (_scd2_stored_to <=> {{ open_end }})
        )
    )) as high_water_mark,
    count_if(_scd2_is_live) as live,
    count_if(not _scd2_is_live and not _scd2_is_deleted) as unknown_members
from {{ load.changes }}
    {%- if settings.keeps_events %}
{{ delta_scd2._join_last_events_sql(load) }}
    {%- endif %}
{% endmacro %}


{# Whether a row is not later than all that is known of its key, so that it concerns the past, or
   leaves the version before it no time. #}
{% macro _is_late_row_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set deleted_at = delta_scd2.end_of_sql(settings, '_scd2_stored_to') -%}
    {%- set known = [
        '_scd2_time_before',
        '_scd2_stored_from',
        'if(_scd2_is_deleted, ' ~ deleted_at ~ ', null)',
    ] -%}
    {%- do known.append('_scd2_last_event') if settings.keeps_events -%}
_scd2_is_source_row
and {{ delta_scd2.closing_sql(settings, delta_scd2.backticked(settings.columns.effective_from)) }}
    <= greatest({{ known | join(', ') }})
{%- endmacro %}


{# Adds the time of the last event of each key, which need not have changed anything. #}
{% macro _join_last_events_sql(load) %}
    {%- set names = load.settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
left join (
    select
        {{ key }} as _scd2_event_key,
        max({{ delta_scd2.backticked(names.effective_from) }}) as _scd2_last_event
    from {{ load.event_log }}
    where {{ key }} in (select {{ key }} from {{ load.changes }})
    group by {{ key }}
) as last_events
    on {{ key }} = _scd2_event_key
{%- endmacro %}
