{# The MERGE that brings a copy to the state after a changelog, once the changelog is found to be
   sound. #}
{% macro apply_changelog(
    target, changelog, keys, change_type='_change_type', change_ordinal='_change_ordinal',
    unavailable_columns=[],
    unavailable_value='__debezium_unavailable_value'
) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set copy = delta_scd2.changelog_copy(target, changelog, {
        'unique_key': delta_scd2.as_list(keys),
        'change_type': change_type,
        'change_ordinal': change_ordinal,
        'unavailable_columns': delta_scd2.as_list(unavailable_columns),
        'unavailable_value': unavailable_value,
    }) -%}
    {%- set copy = dict(
        copy,
        bound=delta_scd2.describe_query('select * from ' ~ changelog).bound,
        partitions=delta_scd2.table_detail(target).partitions,
    ) -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2.silenced_errors(delta_scd2.session_settings())
        or delta_scd2.validate_changelog(copy)
        or delta_scd2.validate_copy_columns(copy, delta_scd2.columns_of(target))
            + delta_scd2.ambiguous_timestamps(target, copy.kept_columns, copy.partitions)) -%}
    {%- set changes = '(' ~ delta_scd2.changes_to_apply_sql(changelog, copy) ~ ')' -%}
    {%- set copy = delta_scd2.with_sound_changelog(dict(copy, changelog=changes)) -%}
    {%- do delta_scd2.checked_effects(copy) -%}
    {{- return(delta_scd2.apply_changelog_sql(copy)) -}}
{% endmacro %}


{% macro apply_changelog_sql(copy) %}
merge into {{ copy.target }} as target
using (
    {{ delta_scd2._effective_changes_sql(copy) | indent(4) }}
) as source
on {{ delta_scd2.same_key_sql(copy.key_names, 'target', 'source') }}
when matched and source._change_kind = 'delete' then delete
{%- if copy.other_columns %}
-- a row that is as it should be is not written again
when matched and {{ delta_scd2._differs_from_copy_sql(copy) }} then update set
    {%- for column in copy.other_columns %}
    {%- set name = delta_scd2.backticked(column.name) %}
    {{ name }} = source.{{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endif %}
when not matched and source._change_kind = 'upsert' then insert (
    {{ delta_scd2.column_list(copy.kept_columns) }}
)
values (
    {{ delta_scd2.column_list(copy.kept_columns, 'source') }}
)
{% endmacro %}
