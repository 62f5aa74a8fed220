{# The versions of the old table beside their neighbours: with the columns of the model in its types and hashed, and their
   ends exclusive, null where open. A tombstone is a row that stands for the time after a deletion. #}
{% macro _old_versions_sql(dimension, old) %}
    {%- set names = dimension.settings.columns -%}
    {%- set from_column = _backticked(names.effective_from) -%}
    {%- set ends_at = 'cast(' ~ _backticked(old.columns.effective_to) ~ ' as timestamp)' -%}
    {%- set key_type = (dimension.stored | selectattr('name', 'equalto', names.surrogate_key) | first).data_type
        if old.columns.surrogate_key -%}
    {%- set has_tombstones = old.columns.is_deleted and old.settings.hard_deletes == 'new_record' %}
with given as (
    select
        {%- for column in dimension.kept_columns %}
        cast({{ _backticked(_old_name(dimension, old, column)) }} as {{ column.data_type }}) as {{ _backticked(column.name) }},
        {%- endfor %}
        cast({{ _backticked(old.columns.effective_from) }} as timestamp) as {{ from_column }},
        if(
            {{ ends_at }} >= {{ _open_end_literal(old.settings) }},
            null,
            {{ _end_of(old.settings, ends_at) }}
        ) as _scd2_ends_at,
        {{ _old_flag_sql(old, 'is_current') }} as _scd2_marked_current,
        {{ _old_flag_sql(old, 'is_deleted') }} as _scd2_marked_deleted,
        {{ 'coalesce(_scd2_marked_deleted, false)' if has_tombstones else 'false' }} as _scd2_is_tombstone,
        {%- if old.columns.surrogate_key %}
        {{ _backticked(old.columns.surrogate_key) }} as _scd2_old_key,
        cast(_scd2_old_key as {{ key_type }}) as _scd2_given_key
        {%- else %}
        null as _scd2_old_key,
        null as _scd2_given_key
        {%- endif %}
    from {{ old.relation }}
),

hashed as (
    select
        *,
        {{ _hash_of(dimension.key_columns) | indent(8) }} as {{ _backticked(names.durable_key) }},
        {{ _hash_of(dimension.tracked_columns) | indent(8) }} as {{ _backticked(names.hash_diff) }}
    from given
    {%- if has_tombstones %}
    -- those of dbt's snapshots have no key
    where not (_scd2_is_tombstone and ({{ _any_is_null(dimension.key_columns) }}))
    {%- endif %}
),

compared as (
    select
        *,
        lead({{ from_column }}) over key_history as _scd2_next_at,
        lead(if(_scd2_is_tombstone, null, {{ from_column }})) ignore nulls over key_history as _scd2_returns_at,
        max(if(_scd2_is_tombstone, null, {{ from_column }})) over (
            partition by {{ _backticked(names.durable_key) }}
        ) as _scd2_last_at,
        {%- if old.columns.surrogate_key %}
        count(*) over (partition by _scd2_given_key) as _scd2_key_count,
        {%- endif %}
        not _scd2_is_tombstone
        and lag(struct(_scd2_is_tombstone, _scd2_ends_at, {{ _backticked(names.hash_diff) }})) over key_history
        <=> struct(false, {{ from_column }}, {{ _backticked(names.hash_diff) }}) as _scd2_is_repeat
    from hashed
    window key_history as (
        partition by {{ _backticked(names.durable_key) }}
        order by {{ from_column }}, _scd2_is_tombstone
    )
)

select
    *,
    coalesce(lead(_scd2_is_repeat) over (
        partition by {{ _backticked(names.durable_key) }}
        order by {{ from_column }}, _scd2_is_tombstone
    ), false) as _scd2_is_repeated
from compared
{% endmacro %}


{# Whether a flag is set; null where it is neither of its values. #}
{% macro _old_flag_sql(old, role) %}
    {%- if not old.columns[role] -%}
        {{- return('cast(null as boolean)') -}}
    {%- endif -%}
    {%- set name = _backticked(old.columns[role]) -%}
    {{- return('case ' ~ name ~ ' when ' ~ _flag_literal(old.settings, true) ~ ' then true when '
        ~ _flag_literal(old.settings, false) ~ ' then false end') -}}
{% endmacro %}


{# The old versions as events, which the timeline lays out as it does the events of a model. #}
{% macro _old_events_sql(dimension, old) %}
    {%- set names = dimension.settings.columns -%}
    {%- set columns -%}
        {{ _backticked(names.durable_key) }},
    {{ _backticked(names.hash_diff) }},
    {{ _column_list(dimension.kept_columns) }},
    {%- endset %}
select
    {{ columns }}
    {{ _backticked(names.effective_from) }},
    false as _scd2_is_gone
from {{ old.versions }}
where not _scd2_is_tombstone
union all
-- a version that begins just then takes the place of the deletion
select
    {{ columns }}
    _scd2_ends_at as {{ _backticked(names.effective_from) }},
    true as _scd2_is_gone
from {{ old.versions }}
where
    not _scd2_is_tombstone
    and _scd2_ends_at is not null
{% endmacro %}


{# The statement that writes the versions, as the first load of their events would, but with the surrogate keys given. #}
{% macro _migrate_sql(dimension, old) %}
    {%- set names = dimension.settings.columns -%}
    {%- set as_events = dict(
        dimension,
        settings=dict(dimension.settings, source_kind='changelog', change_type='_scd2_is_gone', inferred_member=none),
        sequence_columns=[],
    ) %}
insert into {{ dimension.target }} (
    {%- for column in dimension.columns %}
    {{ _backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
select
    {%- for column in dimension.columns %}
    {%- if column == names.surrogate_key and old.columns.surrogate_key %}
    coalesce(given._scd2_given_key, {{ _key_beside_given_sql(dimension) | indent(4) }}){{ ',' if not loop.last }}
    {%- else %}
    versions.{{ _backticked(column) }}{{ ',' if not loop.last }}
    {%- endif %}
    {%- endfor %}
from (
    {{ scd2_changes_sql(as_events) | indent(4) }}
) as versions
    {%- if old.columns.surrogate_key %}
left join {{ old.versions }} as given
    on
        versions.{{ _backticked(names.durable_key) }} = given.{{ _backticked(names.durable_key) }}
        and versions.{{ _backticked(names.effective_from) }} = given.{{ _backticked(names.effective_from) }}
    {%- if dimension.settings.surrogate_key == 'sequence' %}
cross join (select max(_scd2_given_key) as last_key from {{ old.versions }}) as keys
    {%- endif %}
    {%- endif %}
{% endmacro %}


{# The key of a version that the old table has no row for: a tombstone. #}
{% macro _key_beside_given_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- if dimension.settings.surrogate_key == 'hash' -%}
        {{- return('versions.' ~ _backticked(names.surrogate_key)) -}}
    {%- endif -%}
    {{- return('keys.last_key + row_number() over (partition by given._scd2_given_key is null order by versions.'
        ~ _backticked(names.surrogate_key) ~ ')') -}}
{% endmacro %}
