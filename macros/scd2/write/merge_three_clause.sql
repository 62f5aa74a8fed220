{# Writes one extract in one MERGE: closes changed versions, opens new ones, and ends versions of
   missing keys. #}
{% macro merge_three_clause_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set is_current = delta_scd2.backticked(names.is_current) -%}
    {%- set to_column = delta_scd2.backticked(names.effective_to) -%}
    {%- set boundary = delta_scd2.timestamp_literal(load.pending_extracts | first) -%}
    {%- set closing = delta_scd2.closing_sql(settings, boundary) -%}
    {%- set no = delta_scd2.flag_literal(settings, false) -%}
merge into {{ load.target }} as target
using (
    {{- delta_scd2._compared_with_latest_sql(load, boundary) }}
    {{- delta_scd2._versions_to_open_sql(load, boundary) }}
    {{- delta_scd2._keys_and_versions_sql(load) }}
) as source
on
    target.{{ delta_scd2.backticked(names.durable_key) }} = source._scd2_merge_key
    and target.{{ delta_scd2.is_current_sql(settings) }}
when matched and source._scd2_closes then update set
    -- a version closed by a deletion keeps its end
    {{ to_column }} = least(target.{{ to_column }}, {{ closing }}),
    {{ is_current }} = {{ no }}
{{ delta_scd2._insert_sql(load, 'source', ' and source._scd2_merge_key is null') }}
    {%- if not settings.ignores_deletes %}
{{ delta_scd2._end_absent_sql(load, closing) }}
    {%- endif %}
{% endmacro %}


{# The rows of the extract with the current versions of their keys. #}
{% macro _compared_with_latest_sql(load, boundary) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set hash_diff = delta_scd2.backticked(names.hash_diff) -%}
    {%- set is_deleted = delta_scd2.backticked(names.is_deleted) -%}
    {%- set yes = delta_scd2.flag_literal(settings, true) %}
    with extract as (
        select extract.*
        from {{ load.hashed_rows }} as extract
        left semi join (
            {{ delta_scd2.assert_target_unchanged_sql(load) | trim | indent(12) }}
        ) as target_state
        where extract.{{ delta_scd2.backticked(names.effective_from) }} = {{ boundary }}
    ),

    latest as (
        select
            {{ key }},
            {{ hash_diff }},
            {{ is_deleted }} as _scd2_is_deleted
        from {{ load.target }}
        where {{ delta_scd2.is_current_sql(settings) }}
    ),

    compared as (
        select
            extract.*,
            latest.{{ key }} is not null as _scd2_key_exists,
            latest.{{ key }} is null
            or latest._scd2_is_deleted = {{ yes }}
            or not (latest.{{ hash_diff }} <=> extract.{{ hash_diff }}) as _scd2_starts_version
        from extract
        left join latest
            on extract.{{ key }} = latest.{{ key }}
    ),
{% endmacro %}


{# New, changed and returned keys, and tombstones of missing keys. #}
{% macro _versions_to_open_sql(load, boundary) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set hash_diff = delta_scd2.backticked(names.hash_diff) -%}
    {%- set from_column = delta_scd2.backticked(names.effective_from) -%}
    {%- set is_deleted = delta_scd2.backticked(names.is_deleted) -%}
    {%- set yes = delta_scd2.flag_literal(settings, true) -%}
    {%- set no = delta_scd2.flag_literal(settings, false) -%}
    {%- set open = [
        delta_scd2.open_end_literal(settings) ~ ' as ' ~ delta_scd2.backticked(names.effective_to),
        yes ~ ' as ' ~ delta_scd2.backticked(names.is_current),
    ] | join(',\n            ') %}
    opening as (
        select
            {{ key }},
            {{ delta_scd2.column_list(load.kept_columns, indent=12) }},
            {{ hash_diff }},
            {%- if names.state_hash %}
            {{ delta_scd2.state_hash_sql(load) }} as {{ delta_scd2.backticked(names.state_hash) }},
            {%- endif %}
            {{ from_column }},
            {{ open }},
            {{ no }} as {{ is_deleted }}
        from compared
        where _scd2_starts_version
        {%- if settings.keeps_tombstones %}
        union all
        select
            target.{{ key }},
            {{ delta_scd2.column_list(load.kept_columns, 'target', indent=12) }},
            target.{{ hash_diff }},
            {%- if names.state_hash %}
            target.{{ delta_scd2.backticked(names.state_hash) }},
            {%- endif %}
            {{ boundary }} as {{ from_column }},
            {{ open }},
            {{ yes }} as {{ is_deleted }}
        from {{ load.target }} as target
        left anti join extract
            on target.{{ key }} = extract.{{ key }}
        where
            {{ delta_scd2._target_is_live_sql(load) | indent(12) }}
        {%- endif %}
    )
{% endmacro %}


{% macro _keys_and_versions_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns %}
    -- every existing key once, so that only missing keys are not matched by source
    select
        {{ delta_scd2.backticked(names.durable_key) }} as _scd2_merge_key,
        _scd2_starts_version as _scd2_closes,
        {%- for column in load.columns %}
        null as {{ delta_scd2.backticked(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    from compared
    where _scd2_key_exists
    union all
    -- the versions to open, under a merge key that never matches
    select
        null as _scd2_merge_key,
        false as _scd2_closes,
        {%- if names.surrogate_key %}
        {{ delta_scd2.new_key_sql(load, 'opening') | indent(8) }} as {{ delta_scd2.backticked(names.surrogate_key) }},
        {%- endif %}
        opening.*
    from opening
    {%- if settings.has_sequence_keys %}
    cross join ({{ delta_scd2.last_key_sql(load) }}) as last_key
    {%- endif %}
{%- endmacro %}


{% macro _end_absent_sql(load, closing) -%}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set yes = delta_scd2.flag_literal(settings, true) -%}
    {%- set no = delta_scd2.flag_literal(settings, false) -%}
when not matched by source
    and {{ delta_scd2._target_is_live_sql(load) | indent(4) }}
then update set
    {%- if not settings.keeps_deleted_current %}
    {{ delta_scd2.backticked(names.is_current) }} = {{ no }},
    {%- endif %}
    {%- if not settings.keeps_tombstones %}
    {{ delta_scd2.backticked(names.is_deleted) }} = {{ yes }},
    {%- endif %}
    {{ delta_scd2.backticked(names.effective_to) }} = {{ closing }}
{%- endmacro %}


{% macro _target_is_live_sql(load) -%}
target.{{ delta_scd2.is_current_sql(load.settings) }}
and target.{{ delta_scd2.is_not_deleted_sql(load.settings) }}
    {%- if load.settings.unknown_member %}
and {{ delta_scd2.is_not_unknown_member_sql(load, 'target') }}
    {%- endif %}
{%- endmacro %}
