{# What the guards ask. Moments are microseconds since the epoch, so that no session time zone can shift them. #}

{# How many rows, and what is wrong with them: by extract, or of all rows of single keys, which may have as many times. #}
{% macro _moments_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set from_column = _backticked(settings.columns.effective_from) -%}
select
    unix_micros(min({{ from_column }})) as first_moment,
    unix_micros(max({{ from_column }})) as last_moment,
    count(*) as row_count,
    count_if({{ from_column }} is null) as null_times,
    count_if({{ _any_is_null(dimension.key_columns) }}) as null_keys,
    count_if({{ '_scd2_is_gone is null' if settings.change_type else 'false' }}) as unknown_changes,
    count_if({{ _any_is_null(dimension.sequence_columns) or 'false' }}) as null_sequences
from {{ dimension.rows }}
    {%- if settings.inferred_member %}
where not {{ _is_inferred(settings) }}
    {%- endif %}
    {%- if settings.source_kind == 'snapshot' %}
group by {{ from_column }}
order by first_moment nulls first
    {%- endif %}
{% endmacro %}


{# How many rows are too many for their business keys. #}
{% macro _repeats_sql(dimension) %}
select count(*) - count(distinct {{ _backticked(dimension.settings.columns.effective_from) }}, _scd2_key_hash) as repeated
from {{ dimension.rows }}
    {%- if dimension.settings.inferred_member %}
where not {{ _is_inferred(dimension.settings) }}
    {%- endif %}
{% endmacro %}


{# What the keys concerned say of the extracts. #}
{% macro _glance_sql(dimension) %}
select
    count(*) as concerned,
    count_if(is_new) as new_rows,
    count_if(is_gone) as gone,
    count_if(is_new) - count(distinct {{ 'moment, ' if dimension.moments | length > 1 }}key_hash) filter (where is_new) as new_twice,
    {{ _sum_of_rows('state_hash') }} as given
from {{ dimension.concerned }}
{% endmacro %}


{# The rows that were fetched, as the glance saw them. #}
{% macro _fetched_sql(dimension) %}
select
    {{ _sum_of_rows(_state_hash(dimension)) }} as given,
    count_if({{ _any_is_null(dimension.key_columns) }}) as null_keys,
    count(*) - count(distinct _scd2_key_hash) as repeated
from {{ dimension.rows }}
{% endmacro %}


{# What tells rows apart from others, in whatever order they come. #}
{% macro _sum_of_rows(state_hash) -%}
concat(count({{ state_hash }}), ' rows, hashes ', coalesce(sum(cast({{ state_hash }} as decimal(20, 0))), 0))
{%- endmacro %}


{# The business keys of which an extract has more than one row, by moment. #}
{% macro _given_twice_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set moment = _backticked(settings.columns.effective_from) -%}
select
    unix_micros({{ moment }}) as _scd2_moment,
    {{ _key_text(dimension) }} as _scd2_key,
    sum(count(*) - 1) over (partition by {{ moment }}) as too_many
from {{ dimension.rows }}
    {%- if settings.inferred_member %}
where not {{ _is_inferred(settings) }}
    {%- endif %}
group by {{ moment }}, {{ _column_list(dimension.key_columns) | replace('\n   ', '') }}
having count(*) > 1
order by _scd2_moment, _scd2_key
limit 10
{% endmacro %}


{# Up to ten keys with more than one live version. #}
{% macro _live_twice_sql(dimension) %}
select {{ _key_text(dimension) }} as _scd2_key
from {{ dimension.as_read }}
where {{ _is_live_sql(dimension) }}
group by {{ _column_list(dimension.key_columns) | replace('\n   ', '') }}
having count(*) > 1
order by _scd2_key
limit 10
{% endmacro %}


{% macro _any_is_null(columns) %}
    {%- for column in columns -%}
        {{ _backticked(column.name) }} is null{{ ' or ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}


{# Up to ten business keys, as text for a message. #}
{% macro _offenders_sql(dimension, where) %}
select distinct {{ _key_text(dimension) }} as business_key
from {{ dimension.extract }}
where {{ where }}
order by business_key
limit 10
{% endmacro %}


{% macro _key_text(dimension, alias=none) %}
    {%- set parts = [] -%}
    {%- for column in dimension.key_columns -%}
        {%- do parts.append(
            'concat(' ~ _sql_string(column.name ~ ' ') ~ ', coalesce(cast(' ~ (alias ~ '.' if alias else '')
            ~ _backticked(column.name) ~ " as string), 'null'))"
        ) -%}
    {%- endfor -%}
    {{- return("concat_ws(', ', " ~ parts | join(', ') ~ ')') -}}
{% endmacro %}


{# The keys of which two different rows, given or stored, claim one moment, and nothing says which comes last. #}
{% macro _conflicts_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set key = _backticked(names.durable_key) -%}
    {%- set effective_from = _backticked(names.effective_from) -%}
    {%- set order = _column_list(dimension.sequence_columns) | replace('\n   ', '') -%}
    {%- set claim -%}
        {{ key }},
        {{ effective_from }},
        {{ _key_text(dimension) }} as _scd2_business_key,
        {%- if order %}
        {{ order }},
        {%- endif %}
    {%- endset -%}
    {%- set ignored = _told_apart(dimension, dimension.tracked_columns + dimension.overwrite_columns + dimension.sequence_columns) -%}
with claims as (
    {{- _claims_of_rows_sql(dimension, claim, ignored) }}
    {%- if dimension.remembers %}
    union all
    {{- _claims_of_events_sql(dimension, claim, ignored) }}
    {%- endif %}
    {%- if dimension.exists and not dimension.sequence_columns | select('in', dimension.missing) | list %}
    union all
    {{- _claims_of_versions_sql(dimension, claim, ignored) }}
    {%- endif %}
)

select distinct _scd2_business_key as business_key
from claims
group by {{ key }}, {{ effective_from }}, _scd2_business_key{{ ', ' ~ order if order }}
having
    not min(_scd2_is_stored)
    and (
        count(distinct _scd2_state) filter (where not _scd2_is_gone) > 1
        {%- if dimension.is_amended %}
        or count(distinct _scd2_given_state) filter (where not _scd2_is_gone) > 1
        {%- endif %}
        or count(distinct _scd2_overwritten) filter (where not _scd2_is_gone) > 1
        {%- if ignored %}
        or count(distinct _scd2_ignored) filter (where not _scd2_is_gone) > 1
        {%- endif %}
        -- a new deletion is an update in two parts beside a row of the same batch, and else says that a version never began
        or (
            max(_scd2_is_gone and not _scd2_is_stored)
            and max(_scd2_is_stored and not _scd2_is_gone)
            and not max(not _scd2_is_gone and not _scd2_is_stored)
            and not max(_scd2_is_gone and _scd2_is_stored)
        )
    )
order by business_key
limit 10
{% endmacro %}


{% macro _claims_of_rows_sql(dimension, claim, ignored) %}
    {%- set settings = dimension.settings -%}
    {%- set hash_diff = _backticked(settings.columns.hash_diff) %}
    select
        {{ claim }}
        {{ _hash_of(dimension.common_columns) | indent(8) if dimension.is_amended else hash_diff }} as _scd2_state,
        {{ _overwritten_hash(dimension) | indent(8) }} as _scd2_overwritten,
        {%- if ignored %}
        {{ _hash_of(ignored) | indent(8) }} as _scd2_ignored,
        {%- endif %}
        {{ '_scd2_is_gone' if settings.change_type else 'false as _scd2_is_gone' }},
        {%- if dimension.is_amended %}
        {{ hash_diff }} as _scd2_given_state,
        {%- endif %}
        false as _scd2_is_stored
    from {{ dimension.extract }}
    where
        true
        {{- _claim_filters(dimension.settings) }}
{%- endmacro %}


{% macro _claims_of_events_sql(dimension, claim, ignored) %}
    {%- set hash_diff = _backticked(dimension.settings.columns.hash_diff) %}
    select
        {{ claim }}
        {{ hash_diff }} as _scd2_state,
        {{ _overwritten_hash(dimension) | indent(8) }} as _scd2_overwritten,
        {%- if ignored %}
        -- an event may come again with another value there, such as the time at which it was read
        null as _scd2_ignored,
        {%- endif %}
        _scd2_is_gone,
        true as _scd2_is_stored
    from {{ dimension.known_events }}
    where
        true
        {{- _claim_filters(dimension.settings) }}
{%- endmacro %}


{% macro _claims_of_versions_sql(dimension, claim, ignored) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns %}
    select
        {{ claim }}
        -- not the hash that is stored, which may be one of columns that are gone
        {{ _hash_of(dimension.stored_common_columns if dimension.is_amended else dimension.tracked_columns) | indent(8) }} as _scd2_state,
        -- what is stored there is the newest value of all, not the one of this moment
        null as _scd2_overwritten,
        {%- if ignored %}
        null as _scd2_ignored,
        {%- endif %}
        {{ (_backticked(names.is_deleted) ~ ' = ' ~ _flag_literal(settings, true)) if settings.hard_deletes == 'new_record' else 'false' }} as _scd2_is_gone,
        {%- if dimension.is_amended %}
        -- what the table says of its new columns is no claim yet
        null as _scd2_given_state,
        {%- endif %}
        true as _scd2_is_stored
    from {{ dimension.known }}
        {%- if _stores_placeholders(dimension) %}
    where not {{ _is_inferred(settings) }}
        {%- endif %}
{%- endmacro %}


{# The values of overwritten columns, which are no part of the hash. #}
{% macro _overwritten_hash(dimension) %}
    {{- return(_hash_of(dimension.overwrite_columns) if dimension.overwrite_columns else 'null') -}}
{% endmacro %}


{# Placeholders claim nothing, and deletions nothing where they have no effect. #}
{% macro _claim_filters(settings) %}
        {%- if settings.inferred_member %}
        and not {{ _is_inferred(settings) }}
        {%- endif %}
        {%- if settings.hard_deletes == 'ignore' and settings.change_type %}
        and not _scd2_is_gone
        {%- endif %}
{%- endmacro %}


{# The columns of a row, without its key and others, as far as two values of them can be told apart. #}
{% macro _told_apart(dimension, others) %}
    {%- set left_out = _names(dimension.key_columns + others + _variants(dimension.kept_columns))
        + _as_list(dimension.settings.inferred_member) | map('lower') | list -%}
    {%- set columns = [] -%}
    {%- for column in dimension.kept_columns if column.name | lower not in left_out -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# The names of the columns in which such rows differ. #}
{% macro _differing_rows_sql(dimension, relation, columns) %}
    {%- set settings = dimension.settings -%}
    {%- set conditions = (['not ' ~ _is_inferred(settings)] if settings.inferred_member else [])
        + (['not _scd2_is_gone'] if settings.change_type else []) -%}
select distinct column_name
from (
    select array_compact(array(
        {%- for column in columns %}
        {%- set hash = _hash_of([column]) | indent(8) %}
        if(
            min({{ hash }})
            <> max({{ hash }}),
            {{ _sql_string(column.name) }},
            null
        ){{ ',' if not loop.last }}
        {%- endfor %}
    )) as column_names
    from {{ relation }}
    {%- if conditions %}
    where {{ conditions | join(' and ') }}
    {%- endif %}
    group by {{ _column_list(dimension.key_columns + dimension.sequence_columns) | replace('\n   ', '') }}, {{ _backticked(settings.columns.effective_from) }}
    having count(*) > 1
)
lateral view explode(column_names) as column_name
order by column_name
{% endmacro %}


{# The dimension as it was read: what tells that another run wrote since, the newest moment at which it changed, and how many
   keys are live. The last two matter where a moment may be too old, or keys may be absent. #}
{% macro _standing_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
select
    {{ _fingerprint() }} as fingerprint
    {%- if settings.source_kind == 'snapshot' or not settings.effective_at %},
    unix_micros(greatest(
        max({{ _backticked(names.effective_from) }}){{ ' filter (where ' ~ _is_known_sql(dimension) ~ ')' if settings.unknown_member }},
        max({{ _end_sql(settings) }}) filter (
            where
                {{ _backticked(names.is_deleted) }} = {{ _flag_literal(settings, true) }}
                and not ({{ _is_open_sql(settings) }})
        )
    )) as last_boundary,
    count_if({{ _is_live_sql(dimension) }}) as live
    {%- endif %}
    {%- if dimension.remembers %},
    (select count(*) from {{ dimension.events }}) as events
    {%- endif %}
from {{ dimension.as_read }}
{% endmacro %}


{# What tells that another run wrote: of the files that hold the table, and of the rows in them that are not deleted. #}
{% macro _fingerprint() -%}
concat(count(*), ' rows, files ', coalesce(sum(hash(_metadata.file_path)), 0))
{%- endmacro %}


{# One row where the dimension, and what it remembers, stands as it was read, and else an error, before anything is written. #}
{% macro _stands_sql(dimension) %}
    {%- set message = model.name ~ ': ' ~ dimension.target ~ ' changed while this run was reading it. No row was written. '
        ~ 'Remedy: let the other run end, and run this model again.' %}
select 'stands' as _scd2_state
from (
    select {{ _fingerprint() }} as fingerprint
    from {{ dimension.target }}
) as now
where if(
    fingerprint = {{ _sql_string(dimension.standing['fingerprint']) }}
    {%- if dimension.remembers %}
    and (select count(*) from {{ dimension.events }}) = {{ dimension.standing['events'] }}
    {%- endif %},
    true,
    raise_error({{ _sql_string(message) }})
)
{% endmacro %}


{# The live versions of the dimension, as it stands or as it stood before a moment. #}
{% macro _live_sql(dimension) %}
select *
from {{ dimension.as_read }}
where {{ _is_live_sql(dimension) }}
{% endmacro %}


{% macro _is_live_sql(dimension) %}
    {%- set is_watched = _is_watched_sql(dimension) -%}
    {{- return(is_watched ~ ' and ' ~ _is_known_sql(dimension) if dimension.settings.unknown_member else is_watched) -}}
{% endmacro %}


{# Every row but the unknown member, which the table has from its beginning. #}
{% macro _is_known_sql(dimension, alias=none) %}
    {%- if not dimension.settings.unknown_member -%}
        {{- return('true') -}}
    {%- endif -%}
    {%- set conditions = [] -%}
    {%- for column in dimension.key_columns -%}
        {%- do conditions.append((alias ~ '.' if alias else '') ~ _backticked(column.name) ~ ' is not null') -%}
    {%- endfor -%}
    {{- return(conditions[0] if conditions | length == 1 else '(' ~ conditions | join(' or ') ~ ')') -}}
{% endmacro %}


{# Where an extract that was applied before differs from the live rows: how many keys, and ten of them. #}
{% macro _differences_sql(dimension, moment) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set key = _backticked(names.durable_key) -%}
    {%- set hash_diff = _backticked(names.hash_diff) -%}
    {%- set new = _names(dimension.missing + dimension.refilled) -%}
with {{ _live_and_given_sql(dimension, moment) }},

differences as (
    select
        if(
            extract.{{ key }} is null,
            {{ _key_text(dimension, 'live') | indent(12) }},
            {{ _key_text(dimension, 'extract') | indent(12) }}
        ) as business_key,
        live.{{ key }} is null as is_new,
        extract.{{ key }} is null as is_gone
    from live
    full join extract
        on live.{{ key }} = extract.{{ key }}
    where
        live.{{ key }} is null
        {%- if settings.hard_deletes != 'ignore' %}
        or extract.{{ key }} is null
        {%- endif %}
        {%- if dimension.is_amended %}
        or {{ _hash_of(dimension.common_columns, 'extract') | indent(8) }}
        <> {{ _hash_of(dimension.stored_common_columns, 'live') | indent(8) }}
        {%- else %}
        or live.{{ hash_diff }} <> extract.{{ hash_diff }}
        {%- endif %}
        {%- for column in dimension.overwrite_columns if column.name | lower not in new %}
        or (
            live.{{ key }} = extract.{{ key }}
            and not (live.{{ _backticked(column.name) }} <=> extract.{{ _backticked(column.name) }})
        )
        {%- endfor %}
)

select
    business_key,
    count_if(is_new) over () as new_keys,
    count_if(not is_new and not is_gone) over () as changed_keys,
    count_if(is_gone) over () as gone_keys
from differences
order by business_key
limit 10
{% endmacro %}


{# The columns in which rows of an extract differ from the live versions of their keys. #}
{% macro _differing_columns_sql(dimension, moment) %}
    {%- set key = _backticked(dimension.settings.columns.durable_key) -%}
with {{ _live_and_given_sql(dimension, moment) }}

select distinct explode(array_compact(array(
    {%- for column in dimension.common_columns %}
    if(
        {{ _hash_of([column], 'extract') | indent(8) }}
        <> {{ _hash_of([dimension.stored_common_columns[loop.index0]], 'live') | indent(8) }},
        {{ _sql_string(column.name) }},
        null
    ){{ ',' if not loop.last }}
    {%- endfor %}
))) as column_name
from live
inner join extract
    on live.{{ key }} = extract.{{ key }}
order by column_name
{% endmacro %}


{% macro _live_and_given_sql(dimension, moment) -%}
    {%- set settings = dimension.settings -%}
live as (
    {{ _live_sql(dimension) | trim | indent(4) }}
),

extract as (
    select *
    from {{ dimension.extract }}
    where
        {{ _backticked(settings.columns.effective_from) }} = {{ _timestamp_literal(moment) }}
        {%- if settings.inferred_member %}
        and not {{ _is_inferred(settings) }}
        {%- endif %}
)
{%- endmacro %}


{# What the change set would do; one row for each moment at which it deletes, and one for all the rest. #}
{% macro _summary_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
select
    if(_scd2_action <> 'remove' and _scd2_is_deleted, unix_micros(_scd2_ends_at), null) as _scd2_deleted_at,
    count_if(_scd2_action = 'open') as opened,
    count_if(_scd2_action <> 'remove' and _scd2_is_closed) as closed,
    count_if(_scd2_action <> 'remove' and _scd2_is_deleted) as deleted,
    count_if(_scd2_action = 'remove') as removed,
    count_if(_scd2_action = 'change' and not _scd2_is_closed and not _scd2_is_deleted) as altered,
    count_if(_scd2_action <> 'remove' and {{ _backticked(names.effective_to) }} <= {{ _backticked(names.effective_from) }}) as too_short,
    count_if(_scd2_copies > 1) as repeated
from (
    select
        *,
        {{ 'count_if(_scd2_action <> \'open\') over (partition by ' ~ _version_columns(dimension) ~ ')' if dimension.exists else '1' }} as _scd2_copies
    from {{ dimension.changes }}
)
group by _scd2_deleted_at
{% endmacro %}


{# What tells a stored version from all others that a load reads. #}
{% macro _version_columns(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {{- return(_quoted([names.durable_key] + ([] if _touches_current_only(dimension) else [names.effective_from])) | join(', ')) -}}
{% endmacro %}


{# Up to ten keys of the change set. #}
{% macro _changed_keys_sql(dimension, where) %}
select distinct {{ _key_text(dimension) }} as business_key
from {{ dimension.changes }}
where {{ where }}
order by business_key
limit 10
{% endmacro %}
