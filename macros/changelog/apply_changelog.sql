{# The MERGE that brings a copy to the state after a changelog, once the changelog is found to be sound. #}
{% macro apply_changelog(target, changelog, keys, change_type='_change_type', change_ordinal='_change_ordinal') %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set copy = _copy(target, changelog, {
        'unique_key': _as_list(keys),
        'change_type': change_type,
        'change_ordinal': change_ordinal,
    }) -%}
    {%- do copy.update({'bound': _bound_columns_of('select * from ' ~ changelog)}) -%}
    {%- do _refuse_mistakes(_wrong_changelog(copy) or _changed_copy(copy, _columns_of(target))) -%}
    {%- do _refuse_unsound_changelog(copy) -%}
    {%- do copy.update({'has_copies': _has_copies(copy)}) -%}
    {%- do _checked_effects(copy) -%}
    {{- return(_apply_sql(copy)) -}}
{% endmacro %}


{# A copy of the current state, and the changelog that feeds it. #}
{% macro _copy(target, changelog, settings) %}
    {%- set columns = _columns_of(changelog) -%}
    {%- set key_names = settings.unique_key -%}
    {%- set change_type, change_ordinal = settings.change_type, settings.change_ordinal -%}
    {%- set added = [change_type | lower, change_ordinal | lower] -%}
    {%- set kept_columns = [] -%}
    {%- set by_name = {} -%}
    {%- for column in columns -%}
        {%- do by_name.update({column.name | lower: column}) -%}
        {%- do kept_columns.append(column) if column.name | lower not in added -%}
    {%- endfor -%}
    {%- set keys_lower = key_names | map('lower') | list -%}
    {%- set other_columns = [] -%}
    {%- for column in kept_columns if column.name | lower not in keys_lower -%}
        {%- do other_columns.append(column) -%}
    {%- endfor -%}
    {{- return({
        'target': target,
        'changelog': changelog,
        'bound': {},
        'key_names': key_names,
        'key_columns': _named(key_names),
        'kept_columns': kept_columns,
        'other_columns': other_columns,
        'has_change_type': added[0] in by_name,
        'change_type': _backticked(change_type),
        'kind': _change_kind_sql(_backticked(change_type)),
        'change_ordinal': _backticked(change_ordinal),
        'ordinal': by_name.get(added[1]),
        'has_copies': false,
        'remembers': false,
        'has_ordinals': false,
    }) -}}
{% endmacro %}


{# What the changelog would do to the copy. #}
{% macro _checked_effects(copy) %}
    {%- set effects = run_query(_effects_sql(copy)).rows[0] -%}
    {%- if effects['row_count'] > effects['key_count'] -%}
        {%- do _refuse(
            'multiple rows in destination table match key ' ~ copy.key_names ~ ': ' ~ _keys(_ambiguous_keys_sql(copy)),
            'delete the surplus rows of ' ~ copy.target ~ ', or add a column to the key'
        ) -%}
    {%- endif -%}
    {{- return({
        'inserted': effects['inserted'] | int,
        'updated': effects['updated'] | int,
        'deleted': effects['deleted'] | int,
    }) -}}
{% endmacro %}


{% macro _effects_sql(copy) -%}
{{ _matches_sql(copy) }}

select
    count(*) as row_count,
    count(distinct struct({{ _quoted(copy.key_names) | join(', ') }})) as key_count,
    count_if(_change_kind = 'upsert' and not _change_is_known) as inserted,
    count_if(_change_kind = 'upsert' and _change_is_known and _change_differs) as updated,
    count_if(_change_kind = 'delete' and _change_is_known) as deleted
from matches
{%- endmacro %}


{% macro _ambiguous_keys_sql(copy) -%}
{{ _matches_sql(copy) }}

select {{ _key_text(copy) }} as business_key
from matches
group by {{ _quoted(copy.key_names) | join(', ') }}
having count(*) > 1
order by business_key
limit 10
{%- endmacro %}


{# Every change beside the rows of the copy that it meets. #}
{% macro _matches_sql(copy) -%}
with matches as (
    select
        {{ _column_list(copy.key_columns, 'source', indent=8) }},
        source._change_kind,
        target._change_is_known is not null as _change_is_known,
        {{ _differs(copy) }} as _change_differs
    from (
        {{ _effective_changes_sql(copy) | indent(8) }}
    ) as source
    left join (select *, true as _change_is_known from {{ copy.target }}) as target
        on {{ _same_key(copy.key_names, 'target', 'source') }}
)
{%- endmacro %}


{# The changes that are not older than what the copy remembers. #}
{% macro _effective_changes_sql(copy) -%}
    {%- if not copy.has_ordinals -%}
{{ _distinct_changes_sql(copy) }}
    {%- else -%}
select *
from (
    {{ _distinct_changes_sql(copy) | indent(4) }}
) as given
left anti join {{ copy.ordinals }} as remembered
    on
        {{ _same_key(copy.key_names, 'remembered', 'given') }}
        and (
            {{ _is_older_sql() | indent(12) }}
        )
    {%- endif -%}
{%- endmacro %}


{# What the changelog says of the keys after their changes, once where it says so twice. #}
{% macro _distinct_changes_sql(copy) -%}
    {%- if not copy.has_copies -%}
{{ _changes_of_keys_sql(copy) }}
    {%- else -%}
select *
from (
    select
        *,
        row_number() over (partition by {{ _quoted(copy.key_names) | join(', ') }} order by true) as _change_copy
    from (
        {{ _changes_of_keys_sql(copy) | indent(8) }}
    )
)
where _change_copy = 1
    {%- endif -%}
{%- endmacro %}


{% macro _changes_of_keys_sql(copy) -%}
select
    *
    {%- if copy.remembers %},
    _change_kind = 'delete' as _change_is_deleted
    {%- endif %}
from (
    select
        {%- for column in copy.kept_columns %}
        {{ _unbound(column.name, copy.bound) }},
        {%- endfor %}
        {%- if copy.remembers %}
        cast({{ copy.change_ordinal }} as {{ _ordinal_type(copy.ordinal.data_type) }}) as _change_ordinal,
        {%- endif %}
        {{ copy.kind | indent(8) }} as _change_kind
    from {{ copy.changelog }}
)
where _change_kind <> 'before'
{%- endmacro %}


{% macro _differs(copy) %}
    {%- set theirs = _comparable(copy.other_columns, 'source') -%}
    {%- set conditions = [] -%}
    {%- for ours in _comparable(copy.other_columns, 'target') -%}
        {%- do conditions.append(ours ~ ' <=> ' ~ theirs[loop.index0]) -%}
    {%- endfor -%}
    {{- return('not (' ~ conditions | join(' and ') ~ ')' if conditions else 'false') -}}
{% endmacro %}


{% macro _apply_sql(copy) %}
merge into {{ copy.target }} as target
using (
    {{ _effective_changes_sql(copy) | indent(4) }}
) as source
on {{ _same_key(copy.key_names, 'target', 'source') }}
when matched and source._change_kind = 'delete' then delete
{%- if copy.other_columns %}
-- a row that is as it should be is not written again
when matched and {{ _differs(copy) }} then update set
    {%- for column in copy.other_columns %}
    {{ _backticked(column.name) }} = source.{{ _backticked(column.name) }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endif %}
when not matched and source._change_kind = 'upsert' then insert (
    {{ _column_list(copy.kept_columns) }}
)
values (
    {{ _column_list(copy.kept_columns, 'source') }}
)
{% endmacro %}
