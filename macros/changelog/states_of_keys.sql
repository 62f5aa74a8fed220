{# What a table holds of each key, version by version: one row, or none. For a while there may be
   several. #}

{# The rows of a key at each version that made a difference to it. The first in rank is what is
   left of the key, and where it is one that went, nothing is. #}
{% macro _states_of_keys_sql(feed) -%}
{{ delta_scd2._different_rows_sql(feed) }},

    {%- set has_past = feed.latest_by and not feed.is_read_whole -%}
    {%- if has_past %}

lifetimes as (
    select
        *,
        lead(_change_version) over (partition by {{
            delta_scd2._comparable(feed.columns) | join(', ')
        }} order by _change_version) as _change_until,
        max(_change_left) over (partition by {{ delta_scd2._key_of(feed) }}) > 1 as _change_has_rivals
    from rows_left
),

-- of a key with several rows, each at every version of the key at which it is there
candidates as (
    select
        * except (_change_version, _change_time, _change_times),
        _change_at as _change_version,
        _change_at_time as _change_time
    from (
        select
            *,
            collect_set(if(_change_has_rivals, struct(_change_version as at, _change_time as at_time), null)) over (
                partition by {{ delta_scd2._key_of(feed) }}
            ) as _change_times
        from lifetimes
    )
    lateral view inline(if(
        _change_has_rivals,
        filter(
            _change_times,
            m -> m.at = _change_version
            or (_change_rows > 0 and m.at > _change_version and (_change_until is null or m.at < _change_until))
        ),
        array(struct(_change_version as at, _change_time as at_time))
    )) as _change_at, _change_at_time
),
    {%- endif %}

states as (
    select
        *,
        rank() over (
            partition by {{ delta_scd2._key_of(feed) }}, _change_version
            order by
                _change_rows > 0 desc
                {%- for name in delta_scd2.backticked_names(feed.latest_by) %},
                {{ name }} desc
                {%- endfor %}
        ) as _change_rank
    from {{ 'candidates' if has_past else 'rows_left' }}
)
{%- endmacro %}


{# The rows that come or go with a version, and how many different ones of their key there are
   then. #}
{% macro _different_rows_sql(feed) -%}
    {%- if feed.is_read_whole -%}
with turns as (
    select
        {{ delta_scd2._grouped(feed.columns) | join(',\n        ') }},
        {{ feed.last }}L as _change_version,
        {{ feed.last_time }} as _change_time,
        1 as _change_rows,
        1 as _change_turn
    from {{ feed.name }} version as of {{ feed.last }}
    group by {{ delta_scd2._comparable(feed.columns) | join(', ') }}
),
    {%- else -%}
{{ delta_scd2._row_counts_sql(feed, feed.columns) }},

turns as (
    select *
    from (
        select
            *,
            int(_change_rows > 0) - int(lag(_change_rows, 1, 0) over (
                partition by {{ delta_scd2._comparable(feed.columns) | join(', ') }} order by _change_version
            ) > 0) as _change_turn
        from row_counts
    )
    -- the same row once more, or once less, is no difference
    where _change_turn <> 0
),
    {%- endif %}

rows_left as (
    select
        *,
        sum(_change_turn) over (partition by {{ delta_scd2._key_of(feed) }} order by _change_version) as _change_left
    from turns
)
{%- endmacro %}


{# Up to ten keys of which different rows are left at one version, and nothing tells which
   counts. #}
{% macro _rows_at_odds_sql(feed) -%}
{{ delta_scd2._states_of_keys_sql(feed) if feed.latest_by else delta_scd2._different_rows_sql(feed) }}

select distinct {{ delta_scd2.key_text_sql(feed) }} as business_key
    {%- if feed.latest_by %}
from (
    select
        *,
        count(*) over (partition by {{ delta_scd2._key_of(feed) }}, _change_version) as _change_rivals
    from states
    where
        _change_rank = 1
        and _change_rows > 0
        and _change_version >= {{ feed.first }}
)
where
    _change_rivals > 1
    {%- else %}
from rows_left
where
    _change_left > 1
    {%- endif %}
    and not ({{ delta_scd2.any_is_null_sql(feed.key_columns) }})
order by business_key
limit 10
{%- endmacro %}


{% macro _key_of(feed) %}
    {%- set columns = delta_scd2.columns_by_key(feed.columns, feed.key_names).key_columns -%}
    {{- return(delta_scd2._comparable(columns) | join(', ')) -}}
{% endmacro %}
