{# The parts of scd2_changes_sql, in their order. #}

{# The versions that the run may touch. #}
{% macro _stored_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- if dimension.exists -%}
        {%- set scope = _scope(dimension) -%}
        {%- set conditions = [] -%}
        {%- if dimension.is_amended -%}
            {{- _amended_sql(dimension) -}}
        {%- endif -%}
        {%- if scope and dimension.overwrite_columns and settings.source_kind == 'snapshot' -%}
            {{- _overwritten_sql(dimension) -}}
        {%- endif -%}
        {%- do conditions.append(scope | join(' or ') if scope | length == 1 else '(' ~ scope | join(' or ') ~ ')') if scope -%}
        {%- if settings.unknown_member -%}
            {%- do conditions.append(_is_known_sql(dimension)) -%}
        {%- endif -%}
stored as (
    select *
    from {{ 'amended' if dimension.is_amended else dimension.as_read if settings.source_kind == 'snapshot' else dimension.known }}
        {%- if conditions %}
    where {{ conditions | join('\n        and ') }}
        {%- endif %}
),

{% endif -%}
{% endmacro %}


{% macro _scope(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set key = _backticked(settings.columns.durable_key) -%}
    {%- set is_refilled = settings.source_kind == 'snapshot' and dimension.refilled != [] -%}
    {%- if dimension.rebuild_from or is_refilled or (dimension.tracking_changed and not dimension.vanished) -%}
        {{- return([]) -}}
    {%- endif -%}
    {%- set scope = [] -%}
    {%- if settings.source_kind == 'snapshot' or dimension.tracking_changed -%}
        {%- do scope.append(_backticked(settings.columns.is_current) ~ ' = ' ~ _flag_literal(settings, true)) -%}
    {%- endif -%}
    {%- if settings.source_kind != 'snapshot' and dimension.is_amended -%}
        {%- do scope.append(key ~ ' in (select ' ~ key ~ ' from ' ~ dimension.extract ~ ')') -%}
    {%- elif settings.source_kind == 'snapshot' and settings.inferred_member -%}
        {%- do scope.append(key ~ ' in (select ' ~ key ~ ' from ' ~ dimension.extract ~ ' where '
            ~ _backticked(settings.inferred_member) ~ ')') -%}
    {%- endif -%}
    {%- if settings.source_kind == 'snapshot' and dimension.overwrite_columns -%}
        {%- do scope.append(key ~ ' in (select ' ~ key ~ ' from overwritten)') -%}
    {%- endif -%}
    {{- return(scope) -}}
{% endmacro %}


{# The versions with the columns and types that the table is about to get. A version takes the first value that it is given of
   a new tracked column, where nothing else about it changed then; every version of a key takes the newest of an overwritten one. #}
{% macro _amended_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set key = _backticked(names.durable_key) -%}
    {%- set effective_from = _backticked(names.effective_from) -%}
    {%- set yes = _flag_literal(settings, true) -%}
    {%- set no = _flag_literal(settings, false) -%}
    {%- if dimension.filled or dimension.refilled -%}
        {%- set given_row = 'struct(' ~ _column_list(dimension.filled + dimension.refilled) | replace('\n   ', '') ~ ', '
            ~ _hash_of(dimension.common_columns) | indent(12) ~ ' as _scd2_common_hash)' -%}
given as (
    select
        {{ key }},
        {{ effective_from }} as given_at,
        {{ 'max_by' if dimension.sequence_columns else 'any_value' }}(
            {{ given_row }}
            {%- if dimension.sequence_columns %},
            {{ _struct(dimension.sequence_columns) }}
            {%- endif %}
        ) as given_row
    from {{ dimension.extract }}
        {%- if settings.inferred_member or settings.change_type %}
    where {{ _is_real_row(settings) }}
        {%- endif %}
    group by {{ key }}, {{ effective_from }}
),

{% endif -%}
    {%- if dimension.filled -%}
first_given as (
    select
        target.{{ key }},
        target.{{ effective_from }},
        min_by(given.given_row, given.given_at) as given_row
    from {{ dimension.as_read }} as target
    inner join given
        on
            target.{{ key }} = given.{{ key }}
            and target.{{ effective_from }} <= given.given_at
    where
        {%- if settings.source_kind == 'snapshot' %}
        target.{{ _backticked(names.is_current) }} = {{ yes }}
        {%- else %}
        (
            target.{{ _is_open_sql(settings) }}
            or given.given_at < {{ _end_of(settings, 'target.' ~ _backticked(names.effective_to)) }}
        )
        {%- endif %}
        {%- if settings.source_kind == 'snapshot' or settings.hard_deletes == 'new_record' %}
        and target.{{ _backticked(names.is_deleted) }} = {{ no }}
        {%- endif %}
    group by target.{{ key }}, target.{{ effective_from }}
),

{% endif -%}
    {%- if dimension.refilled -%}
newest_given as (
    select
        {{ key }},
        max_by(given_row, given_at) as given_row
    from given
    group by {{ key }}
),

{% endif -%}
followed_columns as (
    select
        {%- if names.surrogate_key %}
        target.{{ _backticked(names.surrogate_key) }},
        {%- endif %}
        target.{{ key }},
        {%- for column in dimension.kept_columns %}
        {{ _amended_column(dimension, column) }} as {{ _backticked(column.name) }},
        {%- endfor %}
        {%- for column in dimension.refilled %}
        {{ _stored_column(dimension, column) }} as {{ _backticked('_scd2_stored_' ~ column.name) }},
        {%- endfor %}
        {%- if dimension.filled and dimension.vanished %}
        first_given.given_row is not null as _scd2_is_filled,
        {%- endif %}
        target.{{ _backticked(names.hash_diff) }} as _scd2_stored_hash,
        {%- if dimension.knows_state_hash %}
        target.{{ _backticked(names.state_hash) }},
        {%- endif %}
        target.{{ effective_from }},
        target.{{ _backticked(names.effective_to) }},
        target.{{ _backticked(names.is_current) }},
        target.{{ _backticked(names.is_deleted) }}
    from {{ dimension.as_read }} as target
        {%- if dimension.filled %}
    left join first_given
        on
            target.{{ key }} = first_given.{{ key }}
            and target.{{ effective_from }} = first_given.{{ effective_from }}
            and {{ _hash_of(dimension.stored_common_columns, 'target') | indent(12) }} = first_given.given_row._scd2_common_hash
        {%- endif %}
        {%- if dimension.refilled %}
    left join newest_given
        on target.{{ key }} = newest_given.{{ key }}
        {%- endif %}
),

amended as (
    select
        *,
        {%- if not dimension.tracking_changed %}
        _scd2_stored_hash as {{ _backticked(names.hash_diff) }}
        {%- elif dimension.vanished %}
        -- a version of the past keeps the hash of all its columns
        if(
            {{ _backticked(names.is_current) }} = {{ yes }}{{ ' or _scd2_is_filled' if dimension.filled }},
            {{ _hash_of(dimension.tracked_columns) | indent(12) }},
            _scd2_stored_hash
        ) as {{ _backticked(names.hash_diff) }}
        {%- else %}
        {{ _hash_of(dimension.tracked_columns) | indent(8) }} as {{ _backticked(names.hash_diff) }}
        {%- endif %}
    from followed_columns
),

{% endmacro %}


{% macro _amended_column(dimension, column) %}
    {%- set name = _backticked(column.name) -%}
    {%- set stored = _stored_column(dimension, column) -%}
    {%- if column in dimension.refilled -%}
        {{- return('if(newest_given.given_row is null, ' ~ stored ~ ', newest_given.given_row.' ~ name ~ ')') -}}
    {%- elif column not in dimension.filled -%}
        {{- return(stored) -}}
    {%- elif column in dimension.missing -%}
        {{- return('first_given.given_row.' ~ name) -}}
    {%- endif -%}
    {{- return('coalesce(' ~ stored ~ ', first_given.given_row.' ~ name ~ ')') -}}
{% endmacro %}


{# What the table holds of a column, in the type that it is about to have. #}
{% macro _stored_column(dimension, column) %}
    {%- set stored = 'target.' ~ _backticked(column.name) -%}
    {%- if column in dimension.widened -%}
        {{- return('cast(' ~ stored ~ ' as ' ~ column.data_type ~ ')') -}}
    {%- elif column in dimension.missing -%}
        {{- return('cast(null as ' ~ column.data_type ~ ')') -}}
    {%- endif -%}
    {{- return(stored) -}}
{% endmacro %}


{# The keys with a version that holds other values in the overwritten columns than the newest row. #}
{% macro _overwritten_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set key = _backticked(settings.columns.durable_key) -%}
newest as (
    select
        {{ key }},
        max_by({{ _struct(dimension.overwrite_columns) }}, {{ _backticked(settings.columns.effective_from) }}) as last_row
    from {{ dimension.extract }}
    {%- if settings.inferred_member %}
    where {{ _is_real_row(settings) }}
    {%- endif %}
    group by {{ key }}
),

overwritten as (
    select distinct target.{{ key }}
    from {{ 'amended' if dimension.is_amended else dimension.as_read }} as target
    inner join newest
        on target.{{ key }} = newest.{{ key }}
    where not ({{ _struct(dimension.overwrite_columns, 'target') }} <=> newest.last_row)
),

{% endmacro %}


{% macro _is_real_row(settings) %}
    {%- set conditions = [] -%}
    {%- if settings.inferred_member -%}
        {%- do conditions.append('not ' ~ _is_inferred(settings)) -%}
    {%- endif -%}
    {%- if settings.change_type -%}
        {%- do conditions.append('not _scd2_is_gone') -%}
    {%- endif -%}
    {{- return(conditions | join(' and ')) -}}
{% endmacro %}


{# Versions and rows of the keys that a glance found changed. To hash these few keys takes less than to read the durable key of all. #}
{% macro _concerned_versions_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set hint = _concerned_hint(dimension) -%}
    {%- set select = 'select ' ~ hint if hint else 'select' -%}
concerned_versions as (
    {{ select }}
        stored.* except ({{ _backticked(names.durable_key) }}),
        {{ _hash_of(dimension.key_columns, 'stored') | indent(8) }} as {{ _backticked(names.durable_key) }}
    from stored
    left semi join {{ dimension.concerned }} as concerned
        on {{ _short_hash(dimension.key_columns, 'stored') }} = concerned.key_hash
),

concerned_rows as (
    {{ scd2_extract_sql(dimension, '(\n    ' ~ select ~ ' given.*\n    from ' ~ dimension.rows ~ ' as given\n    left semi join '
        ~ dimension.concerned ~ ' as concerned\n        on given._scd2_key_hash = concerned.key_hash\n)') | trim | indent(4) }}
),

{% endmacro %}


{# The states of every key: versions that are stored, and rows that are given. _scd2_next_at is the extract that has to
   show the key again, or it is gone. #}
{% macro _states_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set moments = dimension.moments -%}
    {%- set is_snapshot = settings.source_kind == 'snapshot' -%}
    {%- set watches = is_snapshot and settings.hard_deletes != 'ignore' -%}
    {%- set flags = settings.hard_deletes in ['soft_delete', 'invalidate'] -%}
    {%- set first = _timestamp_literal(moments | first) if moments else 'cast(null as timestamp)' -%}
    {%- set is_gone = _backticked(names.is_deleted) ~ ' = ' ~ _flag_literal(settings, true) -%}
    {%- set reopening = _timestamp_literal(dimension.rebuild_from) if dimension.rebuild_from -%}
    {%- set leaves_out = _leaves_out_unchanged_keys(dimension) -%}
    {%- set shared -%}
        {{ _backticked(names.durable_key) }},
        {{ _column_list(dimension.kept_columns, indent=8) }},
        {{ _backticked(names.hash_diff) }},
        {{ _backticked(names.effective_from) }} as _scd2_at,
        {%- if _completes_anew(dimension) %}
        false as _scd2_is_remembered,
        {%- endif %}
    {%- endset -%}
    {{- _concerned_versions_sql(dimension) if leaves_out -}}
states as (
    {%- if dimension.exists %}
    select
        {{ shared }}
        {%- if reopening %}
        {{ _backticked(names.effective_from) }} >= {{ reopening }} as _scd2_is_replaced,
        {%- endif %}
        {{ is_gone if settings.hard_deletes == 'new_record' else 'false' }} as _scd2_is_gone,
        {%- if watches %}
        -- out of an array, so that the code that Spark generates is that of the last extract
        if({{ _is_watched_sql(dimension) }}, array({{ first }}), null)[0] as _scd2_next_at,
        {%- endif %}
        {%- if flags %}
        if(
            {{ is_gone }}{% if reopening %} and {{ _end_sql(settings) }} < {{ reopening }}{% endif %},
            {{ _end_sql(settings) }},
            null
        ) as _scd2_gone_at,
        {%- endif %}
        {{ _stored_struct(dimension) | indent(8) }} as _scd2_stored
    from {{ 'concerned_versions' if leaves_out else 'stored' }}
    {%- endif %}
    {%- if dimension.exists %}
    union all
    {%- endif %}
    select
        {{ shared }}
        {%- if reopening %}
        false as _scd2_is_replaced,
        {%- endif %}
        {{ '_scd2_is_gone' if settings.change_type else 'false as _scd2_is_gone' }},
        {%- if watches %}
        {{ _next_of(moments, _backticked(names.effective_from)) | indent(8) }} as _scd2_next_at,
        {%- endif %}
        {%- if flags %}
        cast(null as timestamp) as _scd2_gone_at,
        {%- endif %}
        null as _scd2_stored
    {%- if leaves_out %}
    from concerned_rows as extract
    {%- else %}
    from {{ dimension.extract }} as extract
    {%- endif %}
    {%- if is_snapshot and moments %}
    where
        {{ _is_one_of(moments, 'extract.' ~ _backticked(names.effective_from)) | indent(8) }}
        {%- if settings.inferred_member %}
        or {{ _is_inferred(settings) }}
        {%- endif %}
    {%- elif is_snapshot %}
    where {{ _is_inferred(settings) if settings.inferred_member else 'false' }}
    {%- elif settings.change_type and settings.hard_deletes == 'ignore' %}
    where not _scd2_is_gone
    {%- endif %}
    {%- if dimension.remembers %}
    union all
    select
        {{ _backticked(names.durable_key) }},
        {%- for column in dimension.kept_columns %}
        {{ 'cast(null as ' ~ column.data_type ~ ') as ' if column in dimension.vanished }}{{ _backticked(column.name) }},
        {%- endfor %}
        {{ _backticked(names.hash_diff) }},
        {{ _backticked(names.effective_from) }} as _scd2_at,
        {%- if _completes_anew(dimension) %}
        true as _scd2_is_remembered,
        {%- endif %}
        _scd2_is_gone,
        {%- if flags %}
        cast(null as timestamp) as _scd2_gone_at,
        {%- endif %}
        null as _scd2_stored
    from {{ dimension.known_events }}
        {%- if settings.hard_deletes == 'ignore' %}
    where not _scd2_is_gone
        {%- endif %}
    {%- endif %}
),

{% endmacro %}


{# Extracts in arrays and maps, so that the code that Spark generates is that of the last run. #}
{% macro _is_one_of(moments, expression) -%}
array_contains(
    array(
        {%- for moment in moments %}
        {{ _timestamp_literal(moment) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    {{ expression }}
)
{%- endmacro %}


{# The extract after that of an expression. #}
{% macro _next_of(moments, expression) -%}
    {%- if moments | length < 2 -%}
cast(null as timestamp)
    {%- else -%}
map(
        {%- for moment in moments[:-1] %}
    {{ _timestamp_literal(moment) }}, {{ _timestamp_literal(moments[loop.index]) }}{{ ',' if not loop.last }}
        {%- endfor %}
)[{{ expression }}]
    {%- endif -%}
{%- endmacro %}


{# A version that the next extract has to show again. #}
{% macro _is_watched_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set conditions = [] -%}
    {%- if dimension.rebuild_from -%}
        {%- set reopening = _timestamp_literal(dimension.rebuild_from) -%}
        {%- do conditions.append(_backticked(names.effective_from) ~ ' < ' ~ reopening) -%}
        {%- do conditions.append('(' ~ _is_open_sql(settings) ~ ' or ' ~ _end_sql(settings) ~ ' >= ' ~ reopening ~ ')') -%}
        {%- if settings.hard_deletes == 'new_record' -%}
            {%- do conditions.append(_backticked(names.is_deleted) ~ ' = ' ~ _flag_literal(settings, false)) -%}
        {%- endif -%}
        {%- if dimension.repeats and settings.inferred_member -%}
            {#- A placeholder no extract had to show; what was none ended at the first extract, if that lacked it. -#}
            {%- do conditions.append('(' ~ _backticked(names.effective_from) ~ ' <> ' ~ _beginning_of_time() ~ ' or '
                ~ _end_sql(settings) ~ ' <=> ' ~ reopening ~ ')') -%}
        {%- endif -%}
    {%- else -%}
        {%- do conditions.append(_backticked(names.is_current) ~ ' = ' ~ _flag_literal(settings, true)) -%}
        {%- do conditions.append(_backticked(names.is_deleted) ~ ' = ' ~ _flag_literal(settings, false)) -%}
    {%- endif -%}
    {%- if _stores_placeholders(dimension) -%}
        {%- do conditions.append('not ' ~ _is_inferred(settings)) -%}
    {%- endif -%}
    {{- return(conditions | join(' and ')) -}}
{% endmacro %}


{% macro _stores_placeholders(dimension) %}
    {%- set column = dimension.settings.inferred_member -%}
    {{- return(column is not none and column | lower not in _names(dimension.missing)) -}}
{% endmacro %}


{% macro _is_open_sql(settings) %}
    {{- return(_backticked(settings.columns.effective_to) ~ ' <=> ' ~ _open_end_literal(settings)) -}}
{% endmacro %}


{% macro _end_sql(settings) %}
    {{- return(_end_of(settings, _backticked(settings.columns.effective_to))) -}}
{% endmacro %}


{% macro _stored_struct(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set stored_hash = '_scd2_stored_hash' if dimension.is_amended else _backticked(names.hash_diff) -%}
    {%- if dimension.filled and dimension.vanished -%}
        {#- What was stored of other columns may have the same hash. -#}
        {%- set stored_hash = 'if(_scd2_is_filled, null, ' ~ stored_hash ~ ')' -%}
    {%- endif -%}
named_struct(
    {%- if names.surrogate_key %}
    'surrogate_key', {{ _backticked(names.surrogate_key) }},
    {%- endif %}
    'hash_diff', {{ stored_hash }},
    {%- if names.state_hash %}
    'state_hash', {{ _stored_state_hash(dimension) }},
    {%- endif %}
    'effective_to', {{ _backticked(names.effective_to) }},
    'is_current', {{ _backticked(names.is_current) }},
    'is_deleted', {{ _backticked(names.is_deleted) }}
    {%- for column in _compared_in_place(dimension) %},
    {{ _sql_string('in_place_' ~ column.name) }}, {{ _backticked(('_scd2_stored_' if column in dimension.refilled else '') ~ column.name) }}
    {%- endfor %}
)
{%- endmacro %}


{# The columns beside the tracked ones in which a stored version may be changed in place. #}
{% macro _compared_in_place(dimension) %}
    {%- set in_place = dimension.overwrite_columns + dimension.sequence_columns -%}
    {%- if dimension.settings.inferred_member -%}
        {%- set in_place = in_place + [{'name': dimension.settings.inferred_member}] -%}
    {%- endif -%}
    {{- return(in_place) -}}
{% endmacro %}


{# A placeholder takes the values of the first row of its key; one for a key that is known already says nothing. #}
{% macro _completed_sql(dimension, history) %}
    {%- set hash_diff = _backticked(dimension.settings.columns.hash_diff) -%}
    {%- set inferred = _is_inferred(dimension.settings) -%}
    {%- set anew = _completes_anew(dimension) -%}
    {%- set columns = dimension.kept_columns + [{'name': dimension.settings.columns.hash_diff}] -%}
    {%- set is_real = 'not ' ~ inferred ~ ' and not _scd2_is_gone' -%}
    {%- set is_open = '(' ~ inferred ~ ' or _scd2_is_completed)' if anew else inferred -%}
    {%- if anew -%}
-- a stored version that was a placeholder says what the first event after it said
placed as (
    select
        *,
        coalesce(
            _scd2_stored is not null
            and _scd2_at = {{ _beginning_of_time() }}
            and max({{ inferred }} and _scd2_is_remembered) over (partition by {{ history }})
            and {{ hash_diff }} = first_value(if({{ is_real }} and _scd2_is_remembered, {{ hash_diff }}, null)) ignore nulls over in_order,
            false
        ) as _scd2_is_completed
    from states
    {{ _in_order_sql(dimension, history) | indent(4) }}
),

{% endif -%}
compared as (
    select
        *,
        max(_scd2_stored is not null or ({{ is_real }})) over (partition by {{ history }}) as _scd2_is_known,
        first_value(if({{ is_real }}{{ ' and not _scd2_is_completed' if anew }}, {{ _struct(columns) }}, null)) ignore nulls over in_order as _scd2_real
    from {{ 'placed' if anew else 'states' }}
    {{ _in_order_sql(dimension, history) | indent(4) }}
),

completed as (
    select
        * except ({{ _column_list(columns) | replace('\n   ', '') }}),
        {%- for column in columns %}
        {%- set name = _backticked(column.name) %}
        if({{ is_open }} and _scd2_real is not null, _scd2_real.{{ name }}, {{ name }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from compared
    where not ({{ inferred }} and _scd2_is_known and _scd2_stored is null)
),

{% endmacro %}


{# Whether a version that was a placeholder may yet get an earlier first event. #}
{% macro _completes_anew(dimension) %}
    {{- return(dimension.remembers and dimension.settings.inferred_member is not none) -}}
{% endmacro %}


{# Of events of one moment the last one counts, so that it comes first. #}
{% macro _in_order_sql(dimension, history) -%}
window in_order as (
    partition by {{ history }}
    order by {{ (['_scd2_at'] + _descending(dimension.sequence_columns)) | join(', ') }}
    rows between unbounded preceding and unbounded following
)
{%- endmacro %}


{% macro _descending(columns) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append(_backticked(column.name) ~ ' desc') -%}
    {%- endfor -%}
    {{- return(quoted) -}}
{% endmacro %}


{# The states and the deletions after them, each at its moment. #}
{% macro _events_sql(dimension, history, states) %}
    {%- set settings = dimension.settings -%}
    {%- set watches = settings.source_kind == 'snapshot' and settings.hard_deletes != 'ignore' -%}
    {%- set flags = settings.hard_deletes in ['soft_delete', 'invalidate'] -%}
    {%- if not watches and not flags -%}
events as (
    select *
    from {{ states }}
),
    {%- else -%}
        {%- set before = 'followed' if watches else states -%}
        {%- set deleted_at = before ~ ('._scd2_deleted_at' if watches else '._scd2_gone_at') -%}
        {%- if watches -%}
            {%- set absence = 'if(lead(_scd2_at) over key_history <=> _scd2_next_at, null, _scd2_next_at)' -%}
followed as (
    select
        *,
        {{ 'coalesce(_scd2_gone_at, ' ~ absence ~ ')' if flags else absence }} as _scd2_deleted_at
    from {{ states }}
    window key_history as (partition by {{ history }} order by _scd2_at)
),

{% endif -%}
events as (
    select
        {{ before }}.* except (
            {{- (_quoted(dimension.sequence_columns | map(attribute='name')) + ['_scd2_at', '_scd2_is_gone', '_scd2_stored']) | join(', ') -}}
        ),
        {%- for column in dimension.sequence_columns %}
        {%- set sequence = before ~ '.' ~ _backticked(column.name) %}
        if(_scd2_event_at > {{ before }}._scd2_at, null, {{ sequence }}) as {{ _backticked(column.name) }},
        {%- endfor %}
        _scd2_event_at as _scd2_at,
        {{ before }}._scd2_is_gone or _scd2_event_at > {{ before }}._scd2_at as _scd2_is_gone,
        if(_scd2_event_at > {{ before }}._scd2_at, null, {{ before }}._scd2_stored) as _scd2_stored
    from {{ before }}
    lateral view explode(array_compact(array({{ before }}._scd2_at, {{ deleted_at }}))) as _scd2_event_at
),
    {%- endif %}
{%- endmacro %}


{% macro _struct(columns, alias=none) %}
    {{- return('struct(' ~ _column_list(columns, alias) | replace('\n   ', '') ~ ')') -}}
{% endmacro %}


{% macro _flag_sql(settings, condition) %}
    {{- return('if(' ~ condition ~ ', ' ~ _flag_literal(settings, true) ~ ', ' ~ _flag_literal(settings, false) ~ ')') -}}
{% endmacro %}


{% macro _is_current_sql(settings) %}
    {%- if settings.hard_deletes == 'soft_delete' -%}
        {{- return('_scd2_ends_at is null or (_scd2_ends_gone and _scd2_returns_at is null)') -}}
    {%- endif -%}
    {{- return('_scd2_ends_at is null') -}}
{% endmacro %}


{% macro _is_removed_sql(dimension) %}
    {%- set reasons = ['not _scd2_opens'] -%}
    {%- do reasons.append('_scd2_is_gone') if dimension.settings.hard_deletes != 'new_record' -%}
    {%- do reasons.append('_scd2_is_replaced') if dimension.rebuild_from -%}
    {{- return(reasons | join(' or ')) -}}
{% endmacro %}


{# The stored columns that do not come as they are from the event that opens the version: a tombstone carries the
   values of the version before it, and every version the newest values of the overwritten columns. #}
{% macro _recomputed(dimension) %}
    {%- set expressions = {} -%}
    {%- if dimension.settings.hard_deletes == 'new_record' -%}
        {%- set own = dimension.overwrite_columns + dimension.sequence_columns -%}
        {%- for column in dimension.kept_columns + [{'name': dimension.settings.columns.hash_diff}] if column not in own -%}
            {%- set name = _backticked(column.name) -%}
            {%- do expressions.update({
                column.name: 'if(_scd2_is_gone and _scd2_last is not null, _scd2_last.' ~ name ~ ', ' ~ name ~ ')'
            }) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for column in dimension.overwrite_columns -%}
        {%- set name = _backticked(column.name) -%}
        {%- do expressions.update({
            column.name: 'if(_scd2_newest is null, ' ~ name ~ ', _scd2_newest.' ~ name ~ ')'
        }) -%}
    {%- endfor -%}
    {{- return(expressions) -}}
{% endmacro %}


{% macro _is_new_end(dimension) %}
    {%- set effective_to = _backticked(dimension.settings.columns.effective_to) -%}
    {%- set differs = ' and not (_scd2_stored.effective_to <=> ' ~ effective_to ~ ')' if dimension.exists -%}
    {{- return('_scd2_ends_at is not null' ~ (differs or '')) -}}
{% endmacro %}


{% macro _differs_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
not (_scd2_stored.hash_diff <=> {{ _backticked(names.hash_diff) }})
    {%- if names.state_hash %}
or (
    {{ _backticked(names.is_current) }} = {{ _flag_literal(dimension.settings, true) }}
    and not (_scd2_stored.state_hash <=> {{ _state_hash(dimension) }})
)
    {%- endif %}
or not (_scd2_stored.effective_to <=> {{ _backticked(names.effective_to) }})
or not (_scd2_stored.is_current <=> {{ _backticked(names.is_current) }})
or not (_scd2_stored.is_deleted <=> {{ _backticked(names.is_deleted) }})
    {%- for column in _compared_in_place(dimension) %}
or not (_scd2_stored.{{ _backticked('in_place_' ~ column.name) }} <=> {{ _backticked(column.name) }})
    {%- endfor %}
{%- endmacro %}


{# The row that facts without a key point to; its business key is null, so no row of a source is ever its successor. #}
{% macro _unknown_member_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- if settings.surrogate_key == 'sequence' -%}
    -1,
    {% elif settings.surrogate_key == 'hash' -%}
    {{ _hash_of_nothing(dimension) }},
    {% endif -%}
    {{ _hash_of_nothing(dimension) }},
    {%- for column in dimension.kept_columns %}
    null,
    {%- endfor %}
    {{ _hash_of_nulls(dimension.tracked_columns) }},
    {%- if settings.columns.state_hash %}
    null,
    {%- endif %}
    {{ _beginning_of_time() }},
    {{ _open_end_literal(settings) }},
    {{ _flag_literal(settings, true) }},
    {{ _flag_literal(settings, false) }}
{%- endmacro %}


{% macro _hash_of_nothing(dimension) %}
    {{- return(_hash_of_nulls(dimension.key_columns)) -}}
{% endmacro %}
