{# What the changelog would do to the copy. #}
{% macro checked_effects(copy) %}
    {%- set effects = delta_scd2.numbers_of(run_query(delta_scd2._effects_sql(copy)).rows[0]) -%}
    {%- if effects['row_count'] > effects['key_count'] -%}
        {%- do delta_scd2.raise_refusal(
            'multiple rows in destination table match key ' ~ copy.key_names ~ ': '
                ~ delta_scd2.query_keys(delta_scd2._ambiguous_keys_sql(copy)),
            'delete the surplus rows of ' ~ copy.target ~ ', or add a column to the key'
        ) -%}
    {%- endif -%}
    {{- return({
        'inserted': effects['inserted'],
        'updated': effects['updated'],
        'deleted': effects['deleted'],
    }) -}}
{% endmacro %}


{% macro _effects_sql(copy) -%}
{{ delta_scd2._matches_sql(copy) }}

select
    count(*) as row_count,
    count(distinct struct({{ delta_scd2.columns_in_line(copy.key_columns) }})) as key_count,
    count_if(_change_kind = 'upsert' and not _change_is_known) as inserted,
    count_if(_change_kind = 'upsert' and _change_is_known and _change_differs) as updated,
    count_if(_change_kind = 'delete' and _change_is_known) as deleted
from matches
{%- endmacro %}


{% macro _ambiguous_keys_sql(copy) -%}
{{ delta_scd2._matches_sql(copy) }}

select {{ delta_scd2.key_text_sql(copy) }} as business_key
from matches
group by {{ delta_scd2.columns_in_line(copy.key_columns) }}
having count(*) > 1
order by business_key
limit 10
{%- endmacro %}


{# Every change beside the rows of the copy that it meets. #}
{% macro _matches_sql(copy) -%}
with matches as (
    select
        {{ delta_scd2.column_list(copy.key_columns, 'source', indent=8) }},
        source._change_kind,
        target._change_is_known is not null as _change_is_known,
        {{ delta_scd2._differs_from_copy_sql(copy) }} as _change_differs
    from (
        {{ delta_scd2._effective_changes_sql(copy) | indent(8) }}
    ) as source
    left join (select *, true as _change_is_known from {{ copy.target }}) as target
        on {{ delta_scd2.same_key_sql(copy.key_names, 'target', 'source') }}
)
{%- endmacro %}


{% macro _differs_from_copy_sql(copy) %}
    {%- set theirs = delta_scd2._comparable(copy.other_columns, 'source') -%}
    {%- set conditions = [] -%}
    {%- for ours in delta_scd2._comparable(copy.other_columns, 'target') -%}
        {%- do conditions.append(ours ~ ' <=> ' ~ theirs[loop.index0]) -%}
    {%- endfor -%}
    {{- return('not (' ~ conditions | join(' and ') ~ ')' if conditions else 'false') -}}
{% endmacro %}
