{# The states of every key: versions that are stored, and rows that are given. _scd2_next_at is the extract that has to
   show the key again, or it is gone. #}
{% macro _states_sql(dimension) %}
    {%- set leaves_out = leaves_out_unchanged_keys(dimension) -%}
    {{- _versions_of_changed_keys_sql(dimension) if leaves_out -}}
states as (
    {%- if dimension.exists %}
    {{- _stored_states_sql(dimension, 'concerned_versions' if leaves_out else 'stored') }}
    union all
    {%- endif %}
    {{- _given_states_sql(dimension, 'concerned_rows' if leaves_out else dimension.extract) }}
    {%- if dimension.remembers %}
    union all
    {{- _remembered_states_sql(dimension) }}
    {%- endif %}
),

{% endmacro %}


{# What versions and rows have in common. #}
{% macro _state_columns(dimension) -%}
    {%- set names = dimension.settings.columns %}
        {{ backticked(names.durable_key) }},
        {{ column_list(dimension.kept_columns, indent=8) }},
        {{ backticked(names.hash_diff) }},
        {{ backticked(names.effective_from) }} as _scd2_at,
        {%- if _completes_anew(dimension) %}
        false as _scd2_is_remembered,
        {%- endif %}
{%- endmacro %}


{% macro _stored_states_sql(dimension, versions) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set first = timestamp_literal(dimension.moments | first) if dimension.moments else 'cast(null as timestamp)' -%}
    {%- set is_gone = backticked(names.is_deleted) ~ ' = ' ~ flag_literal(settings, true) -%}
    {%- set reopening = timestamp_literal(dimension.rebuild_from) if dimension.rebuild_from %}
    select{{ _state_columns(dimension) }}
        {%- if reopening %}
        {{ backticked(names.effective_from) }} >= {{ reopening }} as _scd2_is_replaced,
        {%- endif %}
        {{ is_gone if settings.hard_deletes == 'new_record' else 'false' }} as _scd2_is_gone,
        {%- if _detects_absence(settings) %}
        -- out of an array, so that the code that Spark generates is that of the last extract
        if({{ is_expected_in_next_extract_sql(dimension) }}, array({{ first }}), null)[0] as _scd2_next_at,
        {%- endif %}
        {%- if _flags_deletions(settings) %}
        if(
            {{ is_gone }}{% if reopening %} and {{ end_sql(settings) }} < {{ reopening }}{% endif %},
            {{ end_sql(settings) }},
            null
        ) as _scd2_gone_at,
        {%- endif %}
        {{ _stored_struct(dimension) | indent(8) }} as _scd2_stored
    from {{ versions }}
{%- endmacro %}


{% macro _given_states_sql(dimension, rows) %}
    {%- set settings = dimension.settings -%}
    {%- set effective_from = backticked(settings.columns.effective_from) %}
    select{{ _state_columns(dimension) }}
        {%- if dimension.rebuild_from %}
        false as _scd2_is_replaced,
        {%- endif %}
        {{ '_scd2_is_gone' if settings.change_type else 'false as _scd2_is_gone' }},
        {%- if _detects_absence(settings) %}
        {{ _next_of(dimension.moments, effective_from) | indent(8) }} as _scd2_next_at,
        {%- endif %}
        {%- if _flags_deletions(settings) %}
        cast(null as timestamp) as _scd2_gone_at,
        {%- endif %}
        null as _scd2_stored
    from {{ rows }} as extract
    {%- if settings.source_kind == 'snapshot' and dimension.moments %}
    where
        {{ _is_one_of(dimension.moments, 'extract.' ~ effective_from) | indent(8) }}
        {%- if settings.inferred_member %}
        or {{ is_inferred_sql(settings) }}
        {%- endif %}
    {%- elif settings.source_kind == 'snapshot' %}
    where {{ is_inferred_sql(settings) if settings.inferred_member else 'false' }}
    {%- elif settings.change_type and settings.hard_deletes == 'ignore' %}
    where not _scd2_is_gone
    {%- endif %}
{%- endmacro %}


{# Events of earlier loads, for late ones may give them meaning. #}
{% macro _remembered_states_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns %}
    select
        {{ backticked(names.durable_key) }},
        {%- for column in dimension.kept_columns %}
        {{ 'cast(null as ' ~ column.data_type ~ ') as ' if column in dimension.vanished }}{{ backticked(column.name) }},
        {%- endfor %}
        {{ backticked(names.hash_diff) }},
        {{ backticked(names.effective_from) }} as _scd2_at,
        {%- if _completes_anew(dimension) %}
        true as _scd2_is_remembered,
        {%- endif %}
        _scd2_is_gone,
        {%- if _flags_deletions(settings) %}
        cast(null as timestamp) as _scd2_gone_at,
        {%- endif %}
        null as _scd2_stored
    from {{ dimension.known_events }}
        {%- if settings.hard_deletes == 'ignore' %}
    where not _scd2_is_gone
        {%- endif %}
{%- endmacro %}


{# Whether a key that an extract lacks was deleted. #}
{% macro _detects_absence(settings) %}
    {{- return(settings.source_kind == 'snapshot' and settings.hard_deletes != 'ignore') -}}
{% endmacro %}


{# Whether a deletion is a mark on the last version, which then tells when it was. #}
{% macro _flags_deletions(settings) %}
    {{- return(settings.hard_deletes in ['soft_delete', 'invalidate']) -}}
{% endmacro %}


{# Extracts in arrays and maps, so that the code that Spark generates is that of the last run. #}
{% macro _is_one_of(moments, expression) -%}
array_contains(
    array(
        {%- for moment in moments %}
        {{ timestamp_literal(moment) }}{{ ',' if not loop.last }}
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
    {{ timestamp_literal(moment) }}, {{ timestamp_literal(moments[loop.index]) }}{{ ',' if not loop.last }}
        {%- endfor %}
)[{{ expression }}]
    {%- endif -%}
{%- endmacro %}
