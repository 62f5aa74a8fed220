{# What a run changes, one row a version to open, change or remove: the histories of the keys concerned, as they stand
   and as the rows of the model continue them, laid out again. #}
{% macro scd2_changes_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set key = _backticked(names.durable_key) -%}
    {%- set hash_diff = _backticked(names.hash_diff) -%}
    {%- set keeps_tombstones = settings.hard_deletes == 'new_record' -%}
    {%- set is_ranked = _splices(dimension) or settings.inferred_member -%}
    {%- set tells_newest = is_ranked and dimension.exists and dimension.overwrite_columns != [] -%}
    {%- set overwritten = _struct(dimension.overwrite_columns) -%}
    {%- set is_stored_tombstone = ' or coalesce(_scd2_stored.is_deleted = ' ~ _flag_literal(settings, true) ~ ', false)' -%}
    {%- set meets_old_hashes = dimension.exists and not _touches_current_only(dimension) -%}
    {%- set sequence = 'ranked\n    where _scd2_rank = 1' if is_ranked else 'events' -%}
    {%- set history = key ~ (', _scd2_is_replaced' if dimension.rebuild_from else '') -%}
with {{ _stored_sql(dimension) }}

{{- _states_sql(dimension) }}

{{- _completed_sql(dimension, history) if settings.inferred_member }}

{{- _events_sql(dimension, history, 'completed' if settings.inferred_member else 'states') }}

    {%- if is_ranked %}

-- one event a moment, which takes the place of a version that began then
ranked as (
    select
        {%- if dimension.exists %}
        * except (_scd2_stored),
        max(_scd2_stored) over (partition by {{ key }}, _scd2_at) as _scd2_stored,
        {%- if tells_newest %}
        -- a stored version holds the newest values of all, and its event those of its moment
        coalesce(
            first_value(if(_scd2_stored is null, {{ overwritten }}, null)) ignore nulls over same_event,
            {{ overwritten }}
        ) as _scd2_overwritten,
        {%- endif %}
        {%- else %}
        *,
        {%- endif %}
        row_number() over (
            partition by {{ key }}, _scd2_at
            order by
                {%- if dimension.rebuild_from %}
                _scd2_is_replaced,
                {%- endif %}
                {%- for column in _descending(dimension.sequence_columns) %}
                {{ column }},
                {%- endfor %}
                _scd2_is_gone,
                _scd2_stored is null
        ) as _scd2_rank
    from events
    {%- if tells_newest %}
    window same_event as (
        partition by {{ ([key, '_scd2_at', '_scd2_is_gone'] + _quoted(dimension.sequence_columns | map(attribute='name'))) | join(', ') }}
        rows between unbounded preceding and unbounded following
    )
    {%- endif %}
),
    {%- endif %}

    {%- if meets_old_hashes %}

-- past versions keep the hash of columns that are gone, which is equal to none of other columns
judged as (
    select
        *,
        _scd2_stored is null or {{ hash_diff }} <=> {{ _hash_of(dimension.tracked_columns) | indent(8) }} as _scd2_is_comparable
    from {{ sequence }}
),
    {%- endif %}

steps as (
    select
        *,
        lag(struct(_scd2_is_gone, {{ hash_diff }}{{ ', _scd2_is_comparable' if meets_old_hashes }})) over key_history as _scd2_before,
        case
            when _scd2_before is null then not _scd2_is_gone{{ is_stored_tombstone if keeps_tombstones and dimension.exists }}
            when _scd2_is_gone or _scd2_before._scd2_is_gone then _scd2_is_gone <> _scd2_before._scd2_is_gone
            {%- if meets_old_hashes %}
            when not (_scd2_is_comparable and _scd2_before._scd2_is_comparable) then true
            {%- endif %}
            else not ({{ hash_diff }} <=> _scd2_before.{{ hash_diff }})
        end as _scd2_opens
    from {{ 'judged' if meets_old_hashes else sequence }}
    window key_history as (partition by {{ history }} order by _scd2_at)
),

versions as (
    select
        *,
        lead(_scd2_at) over runs as _scd2_ends_at,
        {%- if settings.hard_deletes == 'soft_delete' %}
        lead(_scd2_at, 2) over runs as _scd2_returns_at,
        {%- endif %}
        coalesce(lead(_scd2_is_gone) over runs, false) as _scd2_ends_gone
        {%- if keeps_tombstones %},
        lag(struct({{ _column_list(dimension.kept_columns) | replace('\n   ', '') }}, {{ hash_diff }})) over runs as _scd2_last
        {%- endif %}
        {%- if dimension.overwrite_columns %},
        last_value(if(_scd2_is_gone, null, {{ '_scd2_overwritten' if tells_newest else overwritten }})) ignore nulls over (
            partition by {{ history }}
            order by _scd2_at
            rows between unbounded preceding and unbounded following
        ) as _scd2_newest
        {%- endif %}
    from steps
    window runs as (partition by {{ history }}, _scd2_opens order by _scd2_at)
),

dated as (
    select
        {%- set recomputed = _recomputed(dimension) %}
        *{{ ' except (' ~ _quoted(recomputed.keys()) | join(', ') ~ ')' if recomputed }},
        {%- for name, expression in recomputed.items() %}
        {{ expression }} as {{ _backticked(name) }},
        {%- endfor %}
        _scd2_at as {{ _backticked(names.effective_from) }},
        coalesce({{ _closing_sql(settings, '_scd2_ends_at') }}, {{ _open_end_literal(settings) }}) as {{ _backticked(names.effective_to) }},
        {{ _flag_sql(settings, _is_current_sql(settings)) }} as {{ _backticked(names.is_current) }},
        {{ _flag_sql(settings, '_scd2_is_gone' if keeps_tombstones else '_scd2_ends_gone') }} as {{ _backticked(names.is_deleted) }},
        {%- if dimension.exists %}
        case
            when _scd2_stored is null then 'open'
            when {{ _is_removed_sql(dimension) }} then 'remove'
            else 'change'
        end as _scd2_action
        {%- else %}
        'open' as _scd2_action
        {%- endif %}
    from versions
    where
        {{ '_scd2_stored is not null\n        or (' if dimension.exists }}_scd2_opens{{ ' and not _scd2_is_gone' if not keeps_tombstones }}{{ ')' if dimension.exists }}
)

select
    _scd2_action,
    {%- if names.surrogate_key %}
    {%- set new_key = _new_key_sql(dimension, partition_by='_scd2_action') %}
    {{ ('coalesce(_scd2_stored.surrogate_key, ' ~ new_key ~ ')' if dimension.exists else new_key) | indent(4) }} as {{ _backticked(names.surrogate_key) }},
    {%- endif %}
    {{ key }},
    {%- for column in dimension.kept_columns %}
    {{ _unbound(column.name, dimension.bound_in_target) }},
    {%- endfor %}
    {{ hash_diff }},
    {%- if names.state_hash %}
    {{ _state_hash(dimension) }} as {{ _backticked(names.state_hash) }},
    {%- endif %}
    {{ _backticked(names.effective_from) }},
    {{ _backticked(names.effective_to) }},
    {{ _backticked(names.is_current) }},
    {{ _backticked(names.is_deleted) }},
    {{ _is_new_end(dimension) }} and not _scd2_ends_gone as _scd2_is_closed,
    {{ _is_new_end(dimension) }} and _scd2_ends_gone as _scd2_is_deleted,
    _scd2_ends_at
from dated
    {%- if settings.surrogate_key == 'sequence' and dimension.exists %}
cross join ({{ _last_key_sql(dimension) }}) as last_key
    {%- endif %}
    {%- if dimension.exists %}
where
    _scd2_action <> 'change'
    or {{ _differs_sql(dimension) | indent(4) }}
    {%- endif %}
    {%- if dimension.lacks_unknown_member %}
union all
select
    'open',
    {{ _unknown_member_sql(dimension) }},
    false,
    false,
    null
    {%- endif %}
{% endmacro %}
