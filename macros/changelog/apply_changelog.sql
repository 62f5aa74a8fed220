{# The MERGE that brings a copy to the state after a changelog, once the changelog is found to be
   sound. #}
{% macro apply_changelog(
    target, changelog, keys, change_type='_change_type', change_ordinal='_change_ordinal', unavailable_columns=[],
    unavailable_value='__debezium_unavailable_value'
) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set copy = changelog_copy(target, changelog, {
        'unique_key': as_list(keys),
        'change_type': change_type,
        'change_ordinal': change_ordinal,
        'unavailable_columns': as_list(unavailable_columns),
        'unavailable_value': unavailable_value,
    }) -%}
    {%- set copy = dict(copy, bound=bound_columns_of_query('select * from ' ~ changelog)) -%}
    {%- do raise_mistakes(validate_changelog(copy) or validate_copy_columns(copy, columns_of(target))) -%}
    {%- set copy = with_sound_changelog(dict(copy, changelog='(' ~ changes_by_kind_sql(changelog, copy.change_type) ~ ')')) -%}
    {%- do checked_effects(copy) -%}
    {{- return(apply_changelog_sql(copy)) -}}
{% endmacro %}


{% macro apply_changelog_sql(copy) %}
merge into {{ copy.target }} as target
using (
    {{ _effective_changes_sql(copy) | indent(4) }}
) as source
on {{ same_key_sql(copy.key_names, 'target', 'source') }}
when matched and source._change_kind = 'delete' then delete
{%- if copy.other_columns %}
-- a row that is as it should be is not written again
when matched and {{ _differs_from_copy_sql(copy) }} then update set
    {%- for column in copy.other_columns %}
    {{ backticked(column.name) }} = source.{{ backticked(column.name) }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endif %}
when not matched and source._change_kind = 'upsert' then insert (
    {{ column_list(copy.kept_columns) }}
)
values (
    {{ column_list(copy.kept_columns, 'source') }}
)
{% endmacro %}
