{# What the guards ask. Moments are microseconds since the epoch, so that no session time zone can shift them. #}

{% macro _extracts_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
select
    unix_micros({{ _backticked(names.effective_from) }}) as effective_from,
    count(*) as row_count,
    count(*) - count(distinct {{ _backticked(names.durable_key) }}) as duplicates,
    count_if({{ _any_key_is_null(dimension) }}) as null_keys
from {{ dimension.extract }}
group by {{ _backticked(names.effective_from) }}
order by effective_from nulls first
{% endmacro %}


{% macro _any_key_is_null(dimension) %}
    {%- for column in dimension.key_columns -%}
        {{ _backticked(column.name) }} is null{{ ' or ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}


{# Up to ten business keys, as text for a message. #}
{% macro _offenders_sql(dimension, where, having) %}
select {{ _key_text(dimension) }} as business_key
from {{ dimension.extract }}
where {{ where }}
group by all
having {{ having }}
order by business_key
limit 10
{% endmacro %}


{% macro _key_text(dimension) %}
    {%- set parts = [] -%}
    {%- for column in dimension.key_columns -%}
        {%- do parts.append(
            'concat(' ~ _sql_string(column.name ~ ' ') ~ ', coalesce(cast(' ~ _backticked(column.name)
            ~ " as string), 'null'))"
        ) -%}
    {%- endfor -%}
    {{- return("concat_ws(', ', " ~ parts | join(', ') ~ ')') -}}
{% endmacro %}


{# The newest moment at which the dimension changed. #}
{% macro _last_boundary_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set to_column = _backticked(names.effective_to) -%}
select
    unix_micros(greatest(
        max({{ _backticked(names.effective_from) }}),
        max({{ to_column }}) filter (
            where
                {{ _backticked(names.is_deleted) }} = {{ _flag_literal(settings, true) }}
                and not ({{ to_column }} <=> {{ _open_end_literal(settings) }})
        ){% if _gap_micros(settings) %} + interval {{ settings.closing_gap }}{% endif %}
    )) as last_boundary
from {{ dimension.target }}
{% endmacro %}


{# What each extract would do, one row an extract in order; row 0 is the dimension as it stands. #}
{% macro _changes_sql(dimension, moments) %}
{{ _steps_sql(dimension, moments) }}

select
    ordinal,
    count(*) as live,
    count_if(not is_known) as appeared,
    count_if(has_changed) as changed,
    count_if(is_gone_after) as gone_after
from steps
group by ordinal
order by ordinal
{% endmacro %}


{# Up to ten of the keys that an extract would touch. #}
{% macro _touched_sql(dimension, moments, ordinal, which) %}
{{ _steps_sql(dimension, moments) }}

select distinct business_key
from steps
where
    (ordinal = {{ ordinal - 1 }} and is_gone_after)
    {%- if which == 'all' %}
    or (ordinal = {{ ordinal }} and (has_changed or not is_known))
    {%- endif %}
order by business_key
limit 10
{% endmacro %}


{# The states of every key, each beside the one before and the one after it. #}
{% macro _steps_sql(dimension, moments) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set key = _backticked(names.durable_key) -%}
    {%- set hash_diff = _backticked(names.hash_diff) -%}
    {%- set previous = 'lag(ordinal) over key_history' -%}
with states as (
    {%- if dimension.exists %}
    select
        {{ key }} as durable_key,
        {{ _key_text(dimension) }} as business_key,
        {{ hash_diff }} as hash_diff,
        0 as ordinal
    from {{ dimension.target }}
    where
        {{ _backticked(names.is_current) }} = {{ _flag_literal(settings, true) }}
        and {{ _backticked(names.is_deleted) }} = {{ _flag_literal(settings, false) }}
    union all
    {%- endif %}
    select
        {{ key }} as durable_key,
        {{ _key_text(dimension) }} as business_key,
        {{ hash_diff }} as hash_diff,
        moments.ordinal
    from {{ dimension.extract }} as extract
    inner join values
        {%- for moment in moments %}
        ({{ _timestamp_literal(moment) }}, {{ loop.index }}){{ ',' if not loop.last }}
        {%- endfor %}
        as moments (moment, ordinal)
        on extract.{{ _backticked(names.effective_from) }} = moments.moment
),

steps as (
    select
        business_key,
        ordinal,
        {%- if settings.hard_deletes == 'ignore' %}
        {{ previous }} is not null as is_known,
        {%- else %}
        {{ previous }} <=> ordinal - 1 as is_known,
        {%- endif %}
        is_known and not (lag(hash_diff) over key_history <=> hash_diff) as has_changed,
        not (lead(ordinal) over key_history <=> ordinal + 1) as is_gone_after
    from states
    window key_history as (partition by durable_key order by ordinal)
)
{%- endmacro %}
