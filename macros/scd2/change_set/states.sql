{# The states of every key: stored versions and new rows. `_scd2_expected_at` is the extract that
   must contain the key again; otherwise the key is deleted then. #}
{% macro _states_sql(load) %}
    {%- set leaves_out = delta_scd2.leaves_out_unchanged_keys(load) -%}
    {{- delta_scd2._versions_of_changed_keys_sql(load) if leaves_out -}}
states as (
    {%- if load.exists %}
    {{- delta_scd2._stored_states_sql(load, 'versions_of_changed_keys' if leaves_out else 'stored') }}
    union all
    {%- endif %}
    {{- delta_scd2._states_of_rows_sql(
        load, 'rows_of_changed_keys' if leaves_out else load.hashed_rows
    ) }}
    {%- if load.has_usable_events %}
    union all
    {{- delta_scd2._remembered_states_sql(load) }}
    {%- endif %}
),

{% endmacro %}


{# The columns that versions and rows have in common. #}
{% macro _state_columns(load, hash_diff=none) -%}
    {%- set names = load.settings.columns %}
        {{ delta_scd2.backticked(names.durable_key) }},
        {{ delta_scd2.column_list(load.kept_columns, indent=8) }},
        {{ hash_diff ~ ' as ' if hash_diff }}{{ delta_scd2.backticked(names.hash_diff) }},
        {{ delta_scd2.backticked(names.effective_from) }} as _scd2_at,
        {%- if delta_scd2._tells_remembered(load) %}
        false as _scd2_is_remembered,
        {%- endif %}
{%- endmacro %}


{% macro _stored_states_sql(load, versions) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set first = delta_scd2.timestamp_literal(load.pending_extracts | first)
        if load.pending_extracts else 'cast(null as timestamp)' -%}
    {%- set is_gone = delta_scd2.is_deleted_sql(settings) -%}
    {%- set reopening = delta_scd2.timestamp_literal(load.rebuild_from) if load.rebuild_from -%}
    {%- set hash_diff = delta_scd2.hash_of(load.tracked_columns) | indent(8)
        if delta_scd2._meets_other_hashes(load) %}
    select{{ delta_scd2._state_columns(load, hash_diff) }}
        {%- if reopening %}
        {{ delta_scd2.backticked(names.effective_from) }} >= {{ reopening }} as _scd2_is_replaced,
        {%- endif %}
        {{ is_gone if settings.keeps_tombstones else 'false' }} as _scd2_is_gone,
        {%- if settings.detects_absence %}
        -- from an array, so that Spark can reuse the generated code of the last load
        if({{ delta_scd2.is_expected_in_next_extract_sql(load) }}, array({{ first }}), null)[0] as _scd2_expected_at,
        {%- endif %}
        {%- if settings.flags_deletions %}
        if(
            {{ is_gone }}{% if reopening %} and {{ delta_scd2.end_sql(settings) }} < {{ reopening }}{% endif %},
            {{ delta_scd2.end_sql(settings) }},
            null
        ) as _scd2_deleted_at,
        {%- endif %}
        {%- if delta_scd2._keeps_apart(load) %}
        {{ delta_scd2._departed_sql(load) | indent(8) }} as _scd2_departed,
        {%- endif %}
        {{ delta_scd2._stored_struct(load) | indent(8) }} as _scd2_stored
    from {{ versions }}
{%- endmacro %}


{% macro _states_of_rows_sql(load, rows) %}
    {%- set settings = load.settings -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) %}
    select{{ delta_scd2._state_columns(load) }}
        {%- if load.rebuild_from %}
        false as _scd2_is_replaced,
        {%- endif %}
        {{ '_scd2_is_gone' if settings.change_type else 'false as _scd2_is_gone' }},
        {%- if settings.detects_absence %}
        {%- set next = delta_scd2._next_of(load.pending_extracts, effective_from) | indent(8) %}
        {{ 'if(' ~ delta_scd2.is_inferred_sql(settings) ~ ', null, ' ~ next ~ ')'
            if settings.inferred_member and load.pending_extracts | length > 1 else next }} as _scd2_expected_at,
        {%- endif %}
        {%- if settings.flags_deletions %}
        cast(null as timestamp) as _scd2_deleted_at,
        {%- endif %}
        {%- if delta_scd2._keeps_apart(load) %}
        null as _scd2_departed,
        {%- endif %}
        null as _scd2_stored
    from {{ rows }} as extract
    {%- if settings.reads_extracts and load.pending_extracts %}
    where
        {{ delta_scd2._is_one_of_sql(load.pending_extracts, 'extract.' ~ effective_from) | indent(8) }}
        {%- if settings.inferred_member %}
        or {{ delta_scd2.is_inferred_sql(settings) }}
        {%- endif %}
    {%- elif settings.reads_extracts %}
    where {{ delta_scd2.is_inferred_sql(settings) if settings.inferred_member and not flags.EMPTY else 'false' }}
    {%- elif settings.change_type and settings.ignores_deletes %}
    where not _scd2_is_gone
    {%- endif %}
{%- endmacro %}


{# Events of earlier loads, because late events can make them significant. #}
{% macro _remembered_states_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns %}
    select
        {{ delta_scd2.backticked(names.durable_key) }},
        {%- for column in load.kept_columns %}
        {%- set value = 'cast(null as ' ~ column.data_type ~ ') as '
            if column in load.dropped_columns else '' %}
        {{ value ~ delta_scd2.backticked(column.name) }},
        {%- endfor %}
        {{ delta_scd2.backticked(names.hash_diff) }},
        {{ delta_scd2.backticked(names.effective_from) }} as _scd2_at,
        {%- if delta_scd2._tells_remembered(load) %}
        true as _scd2_is_remembered,
        {%- endif %}
        _scd2_is_gone,
        {%- if settings.flags_deletions %}
        cast(null as timestamp) as _scd2_deleted_at,
        {%- endif %}
        {%- if delta_scd2._keeps_apart(load) %}
        null as _scd2_departed,
        {%- endif %}
        null as _scd2_stored
    from {{ load.stored_events_of_batch }}
        {%- if settings.ignores_deletes %}
    where not _scd2_is_gone
        {%- endif %}
{%- endmacro %}


{# Whether events of earlier loads are told apart from rows. Of an event that comes again with another
   value in a column that is never compared, the first one counts. #}
{% macro _tells_remembered(load) %}
    {{- return(load.has_usable_events
        and (delta_scd2._completes_anew(load) or delta_scd2.has_ignored_columns(load))) -}}
{% endmacro %}


{# Extract times are in arrays and maps, so that Spark's generated code does not depend on the
   values and can be reused by the next run. #}
{% macro _is_one_of_sql(extract_times, expression) -%}
array_contains(
    array(
        {%- for extract_time in extract_times %}
        {{ delta_scd2.timestamp_literal(extract_time) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    {{ expression }}
)
{%- endmacro %}


{# The extract that follows the one at the time of an expression. #}
{% macro _next_of(extract_times, expression) -%}
    {%- if extract_times | length < 2 -%}
cast(null as timestamp)
    {%- else -%}
map(
        {%- for extract_time in extract_times[:-1] %}
        {%- set next_time = extract_times[loop.index] %}
    {{ delta_scd2.timestamp_literal(extract_time) }}, {{ delta_scd2.timestamp_literal(next_time) }}
        {{- ',' if not loop.last }}
        {%- endfor %}
)[{{ expression }}]
    {%- endif -%}
{%- endmacro %}
