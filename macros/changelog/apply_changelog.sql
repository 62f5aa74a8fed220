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
    {%- set settings = dict({
        'unique_key': delta_scd2.as_list(keys),
        'change_type': change_type,
        'change_ordinal': change_ordinal,
    }, **delta_scd2.unavailable_options({
        'unavailable_columns': unavailable_columns,
        'unavailable_value': unavailable_value,
    })) -%}
    {#- Under --empty dbt prints a relation as a subquery. -#}
    {%- set target = target if target is string else target.render() -%}
    {%- set copy = delta_scd2.changelog_copy(
        target, changelog, delta_scd2.columns_of(changelog), settings
    ) -%}
    {%- set detail = delta_scd2.table_detail(target) -%}
    {%- set copy = dict(copy, partitions=detail.partitions) -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2.unsafe_session_settings()
        or delta_scd2.validate_changelog(copy, keys_option='keys')
        or delta_scd2.validate_copy_columns(copy, delta_scd2.columns_of(target))
            + delta_scd2.ambiguous_timestamps(target, copy.kept_columns, copy.partitions)) -%}
    {%- do delta_scd2._check_no_memory(target) -%}
    {%- set staged = delta_scd2._staged_changes(copy, detail.name) -%}
    {%- set copy = delta_scd2.with_sound_changelog(dict(copy, changelog=staged)) -%}
    {%- do delta_scd2.checked_effects(copy) -%}
    {{- return(delta_scd2.apply_changelog_sql(copy)) -}}
{% endmacro %}


{# What a copy remembers would stay behind these changes, and older ones would replace them later. #}
{% macro _check_no_memory(target) %}
    {%- if 'scd2.ordinals_id' in delta_scd2.read_properties(target) -%}
        {%- do delta_scd2.raise_refusal(
            target ~ ' remembers the ordinals of its changes, and apply_changelog does not',
            'return the changes from the model of the copy, or let the copy forget them with `alter table '
                ~ target ~ " unset tblproperties ('scd2.ordinals_id')`"
        ) -%}
    {%- endif -%}
{% endmacro %}


{# The changes, staged. The MERGE runs after the macro, so the rows stay: in Spark to the end of the
   process, in a table until a later call drops it. Their name tells apart what the hooks of other
   models apply to the same table. #}
{% macro _staged_changes(copy, table_name) %}
    {%- set names = (table_name or '').split('.')[-2:] -%}
    {%- set caller = (this if this is defined else '') | string -%}
    {%- set hash = local_md5(tojson([caller, copy.target | string, copy.changelog | string]))[:12] -%}
    {%- set place = api.Relation.create(
        schema=names[0] if names | length == 2 else target.schema,
        identifier=names[-1] ~ '_' ~ hash,
        quote_policy={'schema': true, 'identifier': true}
    ) -%}
    {%- do delta_scd2.drop_leftovers(place) -%}
    {%- do delta_scd2.drop_staged(place) -%}
    {%- set staged = delta_scd2.staged_table('changes', place) -%}
    {%- do delta_scd2.stage_changelog(staged, 'select * from ' ~ copy.changelog, copy) -%}
    {{- return(staged) -}}
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
