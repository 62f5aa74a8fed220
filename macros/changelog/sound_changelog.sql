{# The copy, once its changelog is found to be sound, with whether changes come several times in
   it, as logs deliver them that rather repeat a change than lose one. #}
{% macro with_sound_changelog(copy) %}
    {%- do delta_scd2._check_changelog(copy) -%}
    {%- do delta_scd2._check_unavailable_values(copy) -%}
    {%- set has_copies = delta_scd2.query_keys(delta_scd2._repeated_keys_sql(copy)) != '' -%}
    {%- do delta_scd2._check_conflicting_changes(copy) if has_copies -%}
    {{- return(dict(copy, has_copies=has_copies)) -}}
{% endmacro %}


{% macro _check_changelog(copy) %}
    {%- set unknown = delta_scd2.query_keys(delta_scd2._unknown_types_sql(copy)) -%}
    {%- if unknown -%}
        {%- do delta_scd2.raise_refusal(
            'the changelog holds rows whose ' ~ copy.change_type ~ ' ' ~ unknown,
            'translate it in the model to INSERT, UPDATE_BEFORE, UPDATE_AFTER or DELETE'
        ) -%}
    {%- endif -%}
    {%- for column in delta_scd2.lossy_partitions(copy.kept_columns, copy.partitions) -%}
        {%- set offenders = delta_scd2.query_keys(delta_scd2._keys_of_lost_partition_sql(copy, column)) -%}
        {%- do delta_scd2.raise_refusal(**delta_scd2.lost_partition(column, offenders)) if offenders -%}
    {%- endfor -%}
    {%- set unordered = delta_scd2.query_keys(delta_scd2._unordered_keys_sql(copy))
        if copy.remembers -%}
    {%- if unordered -%}
        {%- do delta_scd2.raise_refusal(
            'the changelog holds rows with a null in ' ~ copy.change_ordinal ~ ': ' ~ unordered,
            'give every change a value there, or leave the column out of the model, where '
                ~ 'older changes are not recognized then'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# Two different changes of a key are refused. #}
{% macro _check_conflicting_changes(copy) %}
    {%- set conflicts = run_query(delta_scd2._conflicting_changes_sql(copy)).rows -%}
    {%- if conflicts -%}
        {%- set ordered = conflicts | selectattr('is_ordered') | list -%}
        {%- set is_ordered = ordered | length == conflicts | length -%}
        {%- do delta_scd2.raise_refusal(
            'duplicate keys detected in changelog dataframe for identifier columns '
                ~ copy.key_names ~ ': ' ~ conflicts | map(attribute='business_key') | join('; '),
            'keep the last change of each key with `latest_changes`' if is_ordered
                else 'let ' ~ copy.change_ordinal ~ ' tell which change of a key comes last, if '
                    ~ 'need be by a struct of several columns, and keep that one with '
                    ~ '`latest_changes`; or keep one in the model'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# Up to ten texts that are no change type. They come as one sentence, because dbt would read
   `true` or a number on its own as one. #}
{% macro _unknown_types_sql(copy) -%}
    {%- set type = copy.change_type -%}
    {%- set texts = 'slice(array_sort(collect_set(change_type)), 1, 10)' -%}
    {%- set shown = 'if(' ~ type ~ " is null, 'null', " ~ delta_scd2.sql_string("''") ~ ')' -%}
select concat('is not a change type: ', array_join({{ texts }}, '; ')) as change_types
from (
    select coalesce(nullif(cast({{ type }} as string), ''), {{ shown }}) as change_type
    from {{ copy.changelog }}
    where _change_kind is null
)
having count(*) > 0
{%- endmacro %}


{# Of the key also that of deletions, which would not find their row. #}
{% macro _keys_of_lost_partition_sql(copy, column) -%}
select distinct {{ delta_scd2.key_text_sql(copy) }} as business_key
from {{ copy.changelog }}
where
    {{ delta_scd2.is_lost_partition_sql(column) }}
    {%- if column.name | lower not in copy.key_names | map('lower') %}
    and _change_kind = 'upsert'
    {%- endif %}
order by business_key
limit 10
{%- endmacro %}


{% macro _unordered_keys_sql(copy) -%}
select distinct {{ delta_scd2.key_text_sql(copy) }} as business_key
from {{ copy.changelog }}
where
    {{ delta_scd2.any_has_no_value_sql([copy.ordinal]) }}
    and _change_kind <> 'before'
order by business_key
limit 10
{%- endmacro %}


{% macro _repeated_keys_sql(copy) -%}
select {{ delta_scd2.key_text_sql(copy) }} as business_key
from {{ copy.changelog }}
where _change_kind <> 'before'
group by {{ delta_scd2.columns_in_line(copy.key_columns) }}
having count(*) > 1
order by business_key
limit 10
{%- endmacro %}


{# Up to ten keys with different changes, and whether the ordinal tells which of them comes last: a
   row that is brought, or none. A deletion is the same whatever row comes with it. #}
{% macro _conflicting_changes_sql(copy) -%}
    {%- set ordinal = delta_scd2._comparable([copy.ordinal])[0]
        if copy.ordinal is not none else 'null' %}
select
    {{ delta_scd2.key_text_sql(copy) }} as business_key,
    {{ 'count(distinct if(_change_is_last, _change_row, null)) < 2 and count(_change_place) = count(*)'
        if copy.ordinal is not none else 'false' }} as is_ordered
from (
    select
        *,
        {{ ordinal }} as _change_place,
        {{ ordinal }} <=> max({{ ordinal }}) over (
            partition by {{ delta_scd2.columns_in_line(copy.key_columns) }}
        ) as _change_is_last,
        if(
            _change_kind = 'delete', null, struct({{ delta_scd2._comparable(copy.kept_columns) | join(', ') }})
        ) as _change_row
    from {{ copy.changelog }}
    where _change_kind <> 'before'
)
group by {{ delta_scd2.columns_in_line(copy.key_columns) }}
having count(distinct struct(_change_place, _change_row)) > 1
order by business_key
limit 10
{%- endmacro %}
