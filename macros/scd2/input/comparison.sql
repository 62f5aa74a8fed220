{# The rows of an extract beside the current versions of their keys, each with what the load does:
   the extract and the dimension are read once. Rows that nothing is done with keep their values,
   for a load that turns out to need them all. #}
{% macro comparison_sql(load) %}
    {%- set names = load.settings.columns -%}
    {%- set keys = delta_scd2.lower_names(load.key_columns) -%}
with {{ delta_scd2._current_versions_sql(load) }}

compared as (
    select
        {%- for column in load.kept_columns %}
        {%- set name = delta_scd2.backticked(column.name) %}
        {{ 'coalesce(source_rows.' ~ name ~ ', current_versions.' ~ name ~ ') as ' ~ name
            if column.name | lower in keys else 'source_rows.' ~ name }},
        {%- endfor %}
        source_rows.{{ delta_scd2.backticked(names.effective_from) }},
        source_rows._scd2_key_hash is not null as _scd2_is_in_extract,
        coalesce(source_rows._scd2_key_hash, current_versions._scd2_key_hash) as _scd2_key_hash,
        source_rows._scd2_state_hash,
        current_versions._scd2_stored_hash,
        current_versions._scd2_stored_from,
        current_versions._scd2_stored_to,
        current_versions._scd2_is_live,
        current_versions._scd2_is_deleted,
        current_versions._scd2_file_hash,
        case
            {%- if load.settings.detects_absence %}
            when source_rows._scd2_key_hash is null and current_versions._scd2_is_live then 'deleted'
            {%- endif %}
            when source_rows._scd2_key_hash is null then 'unchanged'
            when current_versions._scd2_key_hash is null then 'new'
            when current_versions._scd2_is_deleted then 'returned'
            when source_rows._scd2_state_hash <=> current_versions._scd2_state_hash then 'unchanged'
            else 'changed'
        end as _scd2_effect
    from {{ load.source_view }} as source_rows
    full join current_versions
        on source_rows._scd2_key_hash = current_versions._scd2_key_hash
)

select
    *,
    {%- for name, columns in [
        (names.durable_key, load.key_columns), (names.hash_diff, load.tracked_columns)
    ] %}
    if(
        {{ delta_scd2._opens_version_sql() }},
        {{ delta_scd2.hash_of(columns) | indent(8) }},
        null
    ) as {{ delta_scd2.backticked(name) }}{{ ',' if not loop.last }}
    {%- endfor %}
from compared
{% endmacro %}


{% macro _current_versions_sql(load) -%}
    {%- set names = load.settings.columns -%}
current_versions as (
    select
        {{ delta_scd2.column_list(load.key_columns, indent=8) }},
        {{ delta_scd2.backticked(names.hash_diff) }} as _scd2_stored_hash,
        {{ delta_scd2.backticked(names.effective_from) }} as _scd2_stored_from,
        {{ delta_scd2.backticked(names.effective_to) }} as _scd2_stored_to,
        {{ delta_scd2.is_live_sql(load) }} as _scd2_is_live,
        {{ delta_scd2.is_deleted_sql(load.settings) }} as _scd2_is_deleted,
        hash(_metadata.file_path) as _scd2_file_hash,
        {{ delta_scd2.short_hash(load.key_columns) }} as _scd2_key_hash,
        {{ delta_scd2.stored_state_hash(load) }} as _scd2_state_hash
    from {{ load.target_as_read }}
    where {{ delta_scd2.is_current_sql(load.settings) }}
),
{%- endmacro %}


{% macro _opens_version_sql() %}
    {{- return("_scd2_effect in ('new', 'changed', 'returned')") -}}
{% endmacro %}


{# The rows of the extract alone, as a subquery. #}
{% macro compared_rows(load, compared) -%}
(
    select
        {{ delta_scd2.column_list(load.kept_columns, indent=8) }},
        {{ delta_scd2.backticked(load.settings.columns.effective_from) }},
        _scd2_key_hash,
        _scd2_state_hash
    from {{ compared }}
    where _scd2_is_in_extract
)
{%- endmacro %}


{# A key with two current versions, as no load leaves them. #}
{% macro current_twice_sql(load) %}
select {{ delta_scd2.columns_in_line(load.key_columns) }}
from {{ load.target_as_read }}
where {{ delta_scd2.is_current_sql(load.settings) }}
group by {{ delta_scd2.columns_in_line(load.key_columns) }}
having count(*) > 1
limit 1
{% endmacro %}


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
    {%- set wrong = [effective_from ~ ' is null', delta_scd2.any_is_null_sql(load.key_columns)] -%}
    {%- for column in delta_scd2.text_partitions(load.kept_columns, config.get('partition_by')) -%}
        {%- do wrong.append(delta_scd2.backticked(column.name) ~ " = ''") -%}
    {%- endfor -%}
select
    unix_micros(min({{ effective_from }})) as first_time,
    unix_micros(max({{ effective_from }})) as last_time,
    count_if(_scd2_is_in_extract) as row_count,
    count_if(_scd2_is_in_extract and ({{ wrong | join(' or ') }})) as wrong_rows,
    count(*) - count(distinct _scd2_key_hash) as repeated,
    count_if(_scd2_effect = 'new') as new_keys,
    count_if(_scd2_effect = 'changed') as changed,
    count_if(_scd2_effect = 'returned') as returned,
    count_if(_scd2_effect = 'deleted') as deleted,
    count_if(_scd2_effect = 'changed' and {{ hash_diff }} <=> _scd2_stored_hash) as same_hash,
    unix_micros(max(_scd2_stored_from) filter (where {{ ends }})) as last_ending,
    {{ delta_scd2.fingerprint_sql('_scd2_file_hash') }} as fingerprint,
    unix_micros(greatest(
        max(_scd2_stored_from),
        max({{ delta_scd2.end_of_sql(settings, '_scd2_stored_to') }}) filter (
            where _scd2_is_deleted and not (_scd2_stored_to <=> {{ open_end }})
        )
    )) as last_boundary,
    count_if(_scd2_is_live) as live,
    count_if(not _scd2_is_live and not _scd2_is_deleted) as unknown_members
from {{ load.changes }}
{% endmacro %}
