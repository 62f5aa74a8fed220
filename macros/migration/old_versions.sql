{# The old versions in the columns and types of the model, hashed, with exclusive ends (null if
   open) and facts about their neighbours. A tombstone is a row that covers the time after a
   deletion. #}
{% macro _old_versions_sql(load, old) %}
    {%- set names = load.settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set hash_diff = delta_scd2.backticked(names.hash_diff) -%}
    {%- set from_column = delta_scd2.backticked(names.effective_from) -%}
    {%- set has_tombstones = old.columns.is_deleted and old.settings.keeps_tombstones %}
with old_versions as (
    {{- delta_scd2._cast_versions_sql(load, old, has_tombstones) }}
),

hashed as (
    select
        *,
        {{ delta_scd2.hash_of(load.key_columns) | indent(8) }} as {{ key }},
        {{ delta_scd2.hash_of(load.tracked_columns) | indent(8) }} as {{ hash_diff }}
    from old_versions
    {%- if has_tombstones %}
    -- the tombstones of dbt snapshots have no key
    where not (_scd2_is_tombstone and ({{ delta_scd2.any_is_null_sql(load.key_columns) }}))
    {%- endif %}
),

compared as (
    select
        *,
        lead({{ from_column }}) over key_history as _scd2_next_at,
        lead(if(_scd2_is_tombstone, null, {{ from_column }})) ignore nulls over key_history as _scd2_returns_at,
        max(if(_scd2_is_tombstone, null, {{ from_column }})) over (
            partition by {{ key }}
        ) as _scd2_last_at,
        {%- if old.columns.surrogate_key %}
        count(*) over (partition by _scd2_kept_key) as _scd2_key_count,
        {%- endif %}
        not _scd2_is_tombstone
        and lag(struct(_scd2_is_tombstone, _scd2_valid_to, {{ hash_diff }})) over key_history
        <=> struct(false, {{ from_column }}, {{ hash_diff }}) as _scd2_is_repeat
    from hashed
    window key_history as (
        partition by {{ key }}
        order by {{ from_column }}, _scd2_is_tombstone
    )
)

select
    *,
    coalesce(lead(_scd2_is_repeat) over (
        partition by {{ key }}
        order by {{ from_column }}, _scd2_is_tombstone
    ), false) as _scd2_is_repeated
from compared
{% endmacro %}


{# The versions as stored in the old table, cast to the types of the dimension. #}
{% macro _cast_versions_sql(load, old, has_tombstones) %}
    {%- set names = load.settings.columns -%}
    {%- set begins_at = delta_scd2.backticked(old.columns.effective_from) -%}
    {%- set ends_at = 'cast(' ~ delta_scd2.backticked(old.columns.effective_to) ~ ' as timestamp)' -%}
    {%- set key_type = delta_scd2.types_by_name(load.stored_columns)[names.surrogate_key | lower]
        if old.columns.surrogate_key %}
    select
        {%- for column in load.kept_columns %}
        {%- set old_name = delta_scd2.backticked(delta_scd2._old_name(load, old, column)) %}
        cast({{ old_name }} as {{ column.data_type }}) as {{ delta_scd2.backticked(column.name) }},
        {%- endfor %}
        cast({{ begins_at }} as timestamp) as {{ delta_scd2.backticked(names.effective_from) }},
        if(
            {{ ends_at }} >= {{ delta_scd2.open_end_literal(old.settings) }},
            null,
            {{ delta_scd2.end_of_sql(old.settings, ends_at) }}
        ) as _scd2_valid_to,
        {{ delta_scd2._old_flag_sql(old, 'is_current') }} as _scd2_marked_current,
        {{ delta_scd2._old_flag_sql(old, 'is_deleted') }} as _scd2_marked_deleted,
        {{ 'coalesce(_scd2_marked_deleted, false)' if has_tombstones else 'false' }} as _scd2_is_tombstone,
        {%- if old.columns.surrogate_key %}
        {{ delta_scd2.backticked(old.columns.surrogate_key) }} as _scd2_old_key,
        cast(_scd2_old_key as {{ key_type }}) as _scd2_kept_key
        {%- else %}
        null as _scd2_old_key,
        null as _scd2_kept_key
        {%- endif %}
    from {{ old.relation }}
{%- endmacro %}


{# Whether a flag is set; null if it has neither of its two values. #}
{% macro _old_flag_sql(old, role) %}
    {%- if not old.columns[role] -%}
        {{- return('cast(null as boolean)') -}}
    {%- endif -%}
    {%- set name = delta_scd2.backticked(old.columns[role]) -%}
    {{- return('case ' ~ name ~ ' when ' ~ delta_scd2.flag_literal(old.settings, true)
        ~ ' then true when ' ~ delta_scd2.flag_literal(old.settings, false) ~ ' then false end') -}}
{% endmacro %}


{# Turns the old versions into events, so that the change set treats them like the events of a
   model. #}
{% macro _old_events_sql(load, old) %}
    {%- set names = load.settings.columns -%}
    {%- set columns -%}
        {{ delta_scd2.backticked(names.durable_key) }},
    {{ delta_scd2.backticked(names.hash_diff) }},
    {{ delta_scd2.column_list(load.kept_columns) }},
    {%- endset %}
select
    {{ columns }}
    {{ delta_scd2.backticked(names.effective_from) }},
    false as _scd2_is_gone
from {{ old.versions }}
where not _scd2_is_tombstone
union all
-- a version that starts at the same time replaces the deletion
select
    {{ columns }}
    _scd2_valid_to as {{ delta_scd2.backticked(names.effective_from) }},
    true as _scd2_is_gone
from {{ old.versions }}
where
    not _scd2_is_tombstone
    and _scd2_valid_to is not null
{% endmacro %}


{# Writes the versions like a first load of these events, but keeps the old surrogate keys. #}
{% macro _migrate_sql(load, old) %}
    {%- set names = load.settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set effective_from = delta_scd2.backticked(names.effective_from) -%}
    {%- set as_events = dict(
        load,
        settings=delta_scd2.with_meanings(dict(
            load.settings, source_kind='changelog', change_type='_scd2_is_gone', inferred_member=none
        )),
        sequence_columns=[],
    ) %}
insert into {{ load.target }} (
    {{ delta_scd2.backticked_names(load.columns) | join(',\n    ') }}
)
select
    {%- for column in load.columns %}
    {%- if column == names.surrogate_key and old.columns.surrogate_key %}
    coalesce(
        old_versions._scd2_kept_key, {{ delta_scd2._key_beside_kept_sql(load) | indent(8) }}
    ){{ ',' if not loop.last }}
    {%- else %}
    versions.{{ delta_scd2.backticked(column) }}{{ ',' if not loop.last }}
    {%- endif %}
    {%- endfor %}
from (
    {{ delta_scd2.change_set_sql(as_events) | indent(4) }}
) as versions
    {%- if old.columns.surrogate_key %}
left join {{ old.versions }} as old_versions
    on
        versions.{{ key }} = old_versions.{{ key }}
        and versions.{{ effective_from }} = old_versions.{{ effective_from }}
    {%- if load.settings.has_sequence_keys %}
cross join (select max(_scd2_kept_key) as last_key from {{ old.versions }}) as keys
    {%- endif %}
    {%- endif %}
{% endmacro %}


{# The surrogate key of a version without a row in the old table: a tombstone. #}
{% macro _key_beside_kept_sql(load) %}
    {%- set names = load.settings.columns -%}
    {%- if load.settings.has_hash_keys -%}
        {{- return('versions.' ~ delta_scd2.backticked(names.surrogate_key)) -}}
    {%- endif -%}
    {%- set number = 'row_number() over (partition by old_versions._scd2_kept_key is null order by versions.'
        ~ delta_scd2.backticked(names.surrogate_key) ~ ')' -%}
    {{- return(delta_scd2.added_to_last_key_sql(
        'keys.last_key', number, load.target, load.name
    )) -}}
{% endmacro %}
