{# The rows of the model with the columns of the dimension, their effective time, and short hashes,
   without extracts applied before. Spark leaves out the hashes where nothing reads them. #}
{% macro source_rows_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set from_column = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set time_sql = delta_scd2.timestamp_literal(load.run_started_at) -%}
    {%- if settings.effective_at -%}
        {%- set time_sql = 'cast(' ~ delta_scd2.backticked(settings.effective_at) ~ ' as timestamp)' -%}
    {%- endif -%}
    {%- set kind = delta_scd2.change_kind_sql(delta_scd2.backticked(settings.change_type))
        if settings.change_type -%}
with source as (
    select
        {%- if load.bound_in_source %}
        -- `if` drops the length and the default that a column inherits from its table
        {%- endif %}
        {%- for column in load.kept_columns %}
        {%- if column in load.dropped_columns %}
        cast(null as {{ column.data_type }}) as {{ delta_scd2.backticked(column.name) }},
        {%- else %}
        {{ delta_scd2.backticked(column.name_in_model) ~ ' as ' ~ delta_scd2.backticked(column.name)
            if column.name_in_model
            else delta_scd2.unbound_column(column.name, load.bound_in_source) }},
        {%- endif %}
        {%- endfor %}
        {%- if kind %}
        {{ kind | indent(8) }} as _scd2_kind,
        {%- endif %}
        {%- if settings.inferred_member %}
        -- an inferred row is valid from the beginning of time
        if({{ delta_scd2.is_inferred_sql(settings) }}, {{ delta_scd2.beginning_of_time() }}, {{ time_sql }})
        {{- ' as ' ~ from_column }}
        {%- else %}
        {{ time_sql }} as {{ from_column }}
        {%- endif %}
    from {{ load.source }}
)
    {%- set ends_moved_keys = kind and not settings.ignores_deletes -%}
    {%- if ends_moved_keys -%}
,

{{ delta_scd2._moved_keys_sql(load) }}
    {%- endif %}

select
    *,
    {%- if kind %}
    {{ delta_scd2._is_gone_sql(settings) }} as _scd2_is_gone,
    {%- endif %}
    {{ delta_scd2.short_hash(load.key_columns) }} as _scd2_key_hash,
    {{ delta_scd2.state_hash_sql(load) }} as _scd2_state_hash
from {{ 'kinds' if ends_moved_keys else 'source' }}
    {{- delta_scd2._rows_to_read_sql(load) }}
{% endmacro %}


{# A row before an update that no row of its key follows says that the update changed the key: it
   deletes the old one, at the time of the update. Rows of Delta's feed belong together by their
   version, and others by `sequence_by`. Without either, a row follows that is not older, and nothing
   says when the key changed; no kind of change then stops the load, as it does if rows of several
   times have the same `sequence_by`. #}
{% macro _moved_keys_sql(load) -%}
    {%- set settings = load.settings -%}
    {%- set from_column = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set key = delta_scd2.columns_in_line(load.key_columns) -%}
    {%- set sequence = delta_scd2.columns_in_line(load.sequence_columns) -%}
    {%- if settings.follows_feed -%}
        {%- set version = delta_scd2.backticked(delta_scd2.stored_name(settings, '_commit_version')) -%}
        {%- set is_followed = "max(not (_scd2_kind <=> 'before')) over (partition by " ~ key ~ ', '
            ~ version ~ ')' -%}
        {#- Where the other row of the update is left out, the time may still be that of the commit. -#}
        {%- set updated_at = from_column if settings.effective_at | lower == '_commit_timestamp'
            else "if(max(_scd2_kind <=> 'upsert') over (partition by " ~ version ~ '), '
                ~ delta_scd2._only_time_of_upserts_sql(from_column, version) ~ ', ' ~ from_column ~ ')' -%}
    {%- else -%}
        {%- set place = 'struct(' ~ sequence ~ ')' if sequence else from_column -%}
        {%- set is_followed = "coalesce(max(if(_scd2_kind <=> 'before', null, " ~ place
            ~ ')) over (partition by ' ~ key ~ ') >= ' ~ place ~ ', false)' -%}
        {%- set updated_at = delta_scd2._only_time_of_upserts_sql(from_column, sequence) if sequence
            else 'cast(null as timestamp)' -%}
    {%- endif -%}
kinds as (
    select
        * except (_scd2_kind, {{ from_column }}, _scd2_is_followed, _scd2_updated_at),
        case
            when not (_scd2_kind <=> 'before') or _scd2_is_followed
            {{- ' or ' ~ delta_scd2.is_inferred_sql(settings) if settings.inferred_member }} then _scd2_kind
            when _scd2_updated_at is not null then 'delete'
        end as _scd2_kind,
        if(
            _scd2_kind <=> 'before',
            coalesce(_scd2_updated_at, {{ from_column }}),
            {{ from_column }}
        ) as {{ from_column }}
    from (
        select
            *,
            {{ is_followed }} as _scd2_is_followed,
            {{ updated_at }} as _scd2_updated_at
        from source
    )
)
{%- endmacro %}


{# The time of the updates of one place in the sequence, or null if they have several: one of them may
   belong to another key. #}
{% macro _only_time_of_upserts_sql(from_column, sequence) -%}
    {%- set time = "if(_scd2_kind = 'upsert', " ~ from_column ~ ', null)' -%}
    {%- set last = 'max(' ~ time ~ ') over (partition by ' ~ sequence ~ ')' -%}
if(min({{ time }}) over (partition by {{ sequence }}) = {{ last }}, {{ last }}, null)
{%- endmacro %}


{# Whether an event deletes its key, or null if that is not known. An inferred row deletes none. #}
{% macro _is_gone_sql(settings) %}
    {%- set is_gone = "_scd2_kind = 'delete'" -%}
    {{- return('if(' ~ delta_scd2.is_inferred_sql(settings) ~ ', false, ' ~ is_gone ~ ')'
        if settings.inferred_member else is_gone) -}}
{% endmacro %}


{# Filters out rows before an update and extracts applied before. An inferred row is in no
   extract. #}
{% macro _rows_to_read_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set from_column = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set is_in_no_extract = from_column ~ ' is null'
        ~ ('\n    or ' ~ delta_scd2.is_inferred_sql(settings) if settings.inferred_member else '') -%}
    {%- if settings.change_type %}
where
    _scd2_kind is null
    or _scd2_kind <> 'before'
    {%- elif load.rebuild_from %}
where
    {{ is_in_no_extract }}
    or {{ from_column }} >= {{ delta_scd2.timestamp_literal(load.rebuild_from) }}
    {%- elif settings.reads_extracts and load.applied_extracts | length > 1 %}
-- extracts applied before the last one need not be read again
where
    {{ is_in_no_extract }}
    or {{ from_column }} not in (
        {%- for extract_time in (load.applied_extracts | sort)[:-1] %}
        {{ delta_scd2.timestamp_literal(extract_time) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )
    {%- endif %}
{%- endmacro %}
