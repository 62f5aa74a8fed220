{# The rows of the model beside the current versions, each with what the load does: both are read
   once. Rows that nothing is done with keep their values, for a load that turns out to need them
   all. #}
{% macro comparison_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set keys = delta_scd2.lower_names(load.key_columns) -%}
with {{ delta_scd2._current_versions_sql(load) }}

source_rows as (
    {{ (delta_scd2.source_rows_sql(load) if settings.reads_extracts
        else delta_scd2._rows_in_order_sql(load)) | trim | indent(4) }}
),

compared as (
    select
        {%- for column in load.kept_columns %}
        {%- set name = delta_scd2.backticked(column.name) %}
        {{ 'coalesce(source_rows.' ~ name ~ ', current_versions.' ~ name ~ ') as ' ~ name
            if column.name | lower in keys else 'source_rows.' ~ name }},
        {%- endfor %}
        source_rows.{{ delta_scd2.backticked(names.effective_from) }},
        {%- if settings.change_type %}
        source_rows._scd2_is_gone,
        {%- endif %}
        source_rows._scd2_key_hash is not null as _scd2_is_source_row,
        coalesce(source_rows._scd2_key_hash, current_versions._scd2_key_hash) as _scd2_key_hash,
        source_rows._scd2_state_hash,
        current_versions._scd2_stored_hash,
        current_versions._scd2_stored_from,
        current_versions._scd2_stored_to,
        current_versions._scd2_is_live,
        current_versions._scd2_is_deleted,
        {%- if settings.reads_extracts %}
        current_versions._scd2_file_hash,
        {%- else %}
        -- once for each version
        if(source_rows._scd2_time_before is null, current_versions._scd2_file_hash, null) as _scd2_file_hash,
        source_rows._scd2_time_before,
        coalesce(source_rows._scd2_live_before, current_versions._scd2_is_live) as _scd2_was_live,
        {%- endif %}
        {{ (delta_scd2._effect_of_extract_sql(settings) if settings.reads_extracts
            else delta_scd2._effect_of_event_sql(settings)) | indent(8) }} as _scd2_effect
    from source_rows
    full join current_versions
        on {{ delta_scd2._joins_by_key_sql(load) }}
)

select
    *,
    {%- for name, columns in [
        (names.durable_key, load.key_columns), (names.hash_diff, load.tracked_columns)
    ] %}
    if(
        {{ '_scd2_is_source_row' if settings.keeps_events else delta_scd2.opens_version_sql() }},
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


{# A collision of hashes shows in the counts of an extract, but not in those of a batch. #}
{% macro _joins_by_key_sql(load) %}
    {%- if load.settings.reads_extracts -%}
        {{- return('source_rows._scd2_key_hash = current_versions._scd2_key_hash') -}}
    {%- endif -%}
    {{- return(delta_scd2.same_key_sql(
        load.key_columns | map(attribute='name'), 'source_rows', 'current_versions'
    )) -}}
{% endmacro %}


{# The rows of a batch, each with the row of its key before it. #}
{% macro _rows_in_order_sql(load) %}
    {%- set effective_from = delta_scd2.backticked(load.settings.columns.effective_from) %}
select
    *,
    lag({{ effective_from }}) over key_history as _scd2_time_before,
    lag({{ 'not _scd2_is_gone' if load.settings.change_type else 'true' }}) over key_history as _scd2_live_before,
    lag(_scd2_state_hash) over key_history as _scd2_state_before
from (
    {{ delta_scd2.source_rows_sql(load) | trim | indent(4) }}
)
window key_history as (
    partition by {{ delta_scd2.columns_in_line(load.key_columns) }} order by {{ effective_from }}
)
{% endmacro %}


{# What a full extract does with a key. #}
{% macro _effect_of_extract_sql(settings) -%}
case
    {%- if settings.detects_absence %}
    when source_rows._scd2_key_hash is null and current_versions._scd2_is_live then 'deleted'
    {%- endif %}
    when source_rows._scd2_key_hash is null then 'unchanged'
    when current_versions._scd2_key_hash is null then 'new'
    when current_versions._scd2_is_deleted then 'returned'
    when source_rows._scd2_state_hash <=> current_versions._scd2_state_hash then 'unchanged'
    else 'changed'
end
{%- endmacro %}


{# What a row of a batch does with its key, after the row before it or the current version. #}
{% macro _effect_of_event_sql(settings) -%}
case
    when source_rows._scd2_key_hash is null then 'unchanged'
    {%- if settings.change_type %}
    when source_rows._scd2_is_gone and _scd2_was_live then 'deleted'
    when source_rows._scd2_is_gone then 'unchanged'
    {%- endif %}
    when _scd2_was_live is null then 'new'
    when not _scd2_was_live then 'returned'
    when
        source_rows._scd2_state_hash <=> coalesce(
            source_rows._scd2_state_before, current_versions._scd2_state_hash
        )
        then 'unchanged'
    else 'changed'
end
{%- endmacro %}


{% macro opens_version_sql() %}
    {{- return("_scd2_effect in ('new', 'changed', 'returned')") -}}
{% endmacro %}


{# The rows of the model alone, as a subquery. #}
{% macro compared_rows(load, compared) -%}
(
    select
        {{ delta_scd2.column_list(load.kept_columns, indent=8) }},
        {{ delta_scd2.backticked(load.settings.columns.effective_from) }},
        {%- if load.settings.change_type %}
        _scd2_is_gone,
        {%- endif %}
        _scd2_key_hash,
        _scd2_state_hash
    from {{ compared }}
    where _scd2_is_source_row
)
{%- endmacro %}


{# The past of keys that a batch seems to bring: of a key without a current version, as no load
   leaves one, the comparison sees nothing. #}
{% macro past_of_new_keys_sql(load) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.durable_key) %}
{{ load.target_as_read }}
where
    not ({{ delta_scd2.is_current_sql(load.settings) }})
    and {{ key }} in (
        select {{ key }}
        from {{ load.changes }}
        where {{ delta_scd2.opens_version_sql() }} and _scd2_stored_from is null
    )
{% endmacro %}
