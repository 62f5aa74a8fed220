{# The net changes of a range of versions of a Delta table, read from its change data feed. #}
{% macro changelog(relation, keys=none, from_version=none, to_version=none, from_timestamp=none, to_timestamp=none) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- elif delta_scd2._query_is_absent(relation) -%}
        {{- return('select * from ' ~ relation.render()) -}}
    {%- endif -%}
    {%- set source = delta_scd2.cdf_source(relation, delta_scd2.as_list(keys)) -%}
    {%- set feed = dict(source, **delta_scd2._feed_range(
        source.name, from_version, to_version, from_timestamp, to_timestamp
    )) -%}
    {%- do delta_scd2._check_planned_read(feed) -%}
    {%- if flags.EMPTY or feed.first > feed.last -%}
        {{- return(delta_scd2._empty_changelog_sql(feed)) -}}
    {%- endif -%}
    {%- set feed = delta_scd2._with_later_columns(feed) -%}
    {%- set answers = delta_scd2._answers(feed, delta_scd2._duplicates_sql(feed) if feed.key_names
        else 'select count(*) from ' ~ delta_scd2._feed_sql(feed)) -%}
    {%- if feed.key_names and answers -%}
        {%- do delta_scd2.raise_refusal(
            'Duplicate rows found for identifier columns ' ~ feed.key_names ~ ' in changelog view: '
                ~ answers | join('; '),
            'name the columns that identify a row of ' ~ feed.name ~ '; or leave `keys` out to get its '
                ~ 'net changes, which a copy of single rows of a key must not apply'
        ) -%}
    {%- endif -%}
    {{- return(delta_scd2._identifier_changelog_sql(feed) if feed.key_names
        else delta_scd2._net_changelog_sql(feed)) -}}
{% endmacro %}


{# One row a key, or a pair where a row of the key was taken and another brought. #}
{% macro _identifier_changelog_sql(feed) -%}
-- {{ delta_scd2.range_comment(feed.last) }}
{{ delta_scd2._net_changes_sql(feed) }}

select
    {{ delta_scd2.column_list(feed.columns) }},
    case
        when count(*) over (partition by {{ delta_scd2.columns_in_line(feed.key_columns) }}) = 1
            then if(_change_count > 0, 'INSERT', 'DELETE')
        else if(_change_count > 0, 'UPDATE_AFTER', 'UPDATE_BEFORE')
    end as _change_type,
    {{ delta_scd2._ordinal_of_range_sql('_change_ordinal', feed) }}
from net_changes
where _change_count <> 0
{%- endmacro %}


{# Every row that was brought or taken, as often as it was. #}
{% macro _net_changelog_sql(feed) -%}
-- {{ delta_scd2.range_comment(feed.last) }}
{{ delta_scd2._net_changes_sql(feed) }}

select
    {{ delta_scd2.column_list(feed.columns) }},
    if(_change_count > 0, 'INSERT', 'DELETE') as _change_type,
    {{ delta_scd2._ordinal_of_range_sql('_change_ordinal', feed) }}
from net_changes
lateral view explode(array_repeat(true, int(abs(_change_count)))) as _change_copy
{%- endmacro %}


{# How many of each row every version brought (above 0) or took (below 0), without what another
   version undid. #}
{% macro _net_changes_sql(feed) -%}
    {%- set by_row = 'partition by ' ~ delta_scd2._comparable(feed.columns) | join(', ')
        ~ ' order by _change_ordinal' -%}
with changes as (
    -- a row that a version wrote again as it was counts 0
    select
        {{ delta_scd2.column_list(feed.columns, indent=8) }},
        _commit_version as _change_ordinal,
        sum({{ delta_scd2._change_sign() }}) as _change_count
    from {{ delta_scd2._feed_sql(feed) }}
    group by all
),

balances as (
    select
        *,
        sum(_change_count) over ({{ by_row }}) as _change_balance
    from changes
),

kept as (
    -- the part of the balance that no later version undoes
    select
        *,
        greatest(0, min(_change_balance) over rest) + least(0, max(_change_balance) over rest) as _change_kept
    from balances
    window rest as (
        {{ by_row }}
        rows between current row and unbounded following
    )
),

net_changes as (
    select
        {{ delta_scd2.column_list(feed.columns, indent=8) }},
        _change_ordinal,
        _change_kept - lag(_change_kept, 1, 0) over ({{ by_row }}) as _change_count
    from kept
)
{%- endmacro %}


{% macro _empty_changelog_sql(feed) -%}
-- {{ delta_scd2.range_comment(feed.last) }}
select
    {{ delta_scd2.column_list(feed.columns) }},
    '' as _change_type,
    {{ delta_scd2._ordinal_of_range_sql('0L', feed) }}
from {{ feed.name }}
where false
{%- endmacro %}


{# The ordinal with a comment by which a copy recognizes the net changes of a range, also through
   views and tables. A field's comment is the only one that a query can give. #}
{% macro _ordinal_of_range_sql(ordinal, feed) -%}
cast(
        struct({{ ordinal }})
        as struct<_change_ordinal: bigint comment {{ delta_scd2.sql_string(delta_scd2.range_comment(feed.last)) }}>
    )._change_ordinal as _change_ordinal
{%- endmacro %}


{% macro range_comment(version) %}
    {{- return('net changes up to version ' ~ version) -}}
{% endmacro %}
