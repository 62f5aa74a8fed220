{# What a copy remembers in a table beside it: of every key the ordinal of its last change, and
   whether that was a deletion, for an older change may come in a later batch. #}

{% macro ordinals_relation(target) %}
    {{- return(target.incorporate(path={'identifier': target.identifier ~ '__ordinals'})) -}}
{% endmacro %}


{# What is known of the memory before a load. Copy and memory bear the same mark; a copy without
   one starts to remember. Net changes of a range say where a key stands at the end of the range,
   whatever their ordinals are. #}
{% macro _memory(copy, recorded) %}
    {%- set ordinals = delta_scd2.ordinals_relation(copy.target) -%}
    {%- set mark = recorded.get('scd2.ordinals_id') -%}
    {%- set range_end = delta_scd2._query_end_of_range(copy)
        if copy.ordinal is not none else none -%}
    {%- set is_range = copy.ordinal is not none
        and (range_end is not none or delta_scd2._has_range_in_model(model)) -%}
    {%- set remembers = copy.ordinal is not none
        and copy.ordinal.data_type != 'void' and not is_range -%}
    {{- return({
        'ordinals': ordinals,
        'is_range': is_range,
        'range_end': range_end,
        'remembers': remembers,
        'mark': mark,
        'new_mark': delta_scd2.run_suffix(),
        'beside': delta_scd2.read_properties(ordinals)
            if (remembers or mark) and delta_scd2.query_exists(ordinals) else none,
        'has_ordinals': mark is not none,
    }) -}}
{% endmacro %}


{# What is in the way of the memory. #}
{% macro _validate_memory(copy) %}
    {%- set mistakes = delta_scd2.models_in_the_way(copy.ordinals, 'the ordinals of this copy')
        if copy.remembers else [] -%}
    {%- if not mistakes and copy.beside is not none and 'scd2.ordinals_id' not in copy.beside -%}
        {%- do mistakes.append(copy.ordinals ~ ' is in the way, where the ordinals of ' ~ copy.target
            ~ ' are remembered: rename or drop it') -%}
    {%- endif -%}
    {%- if copy.remembers
        and modules.re.search('(^|[<:,])(map<|(variant|interval)($|[ >,]))', copy.ordinal.data_type) -%}
        {%- do mistakes.append('`change_ordinal` names the column `' ~ copy.ordinal.name
            ~ '` of type ' ~ copy.ordinal.data_type
            ~ ', by which changes cannot be ordered: cast it in the model') -%}
    {%- endif -%}
    {{- return(mistakes + (delta_scd2.unstorable_types([copy.ordinal]) if copy.remembers else [])) -}}
{% endmacro %}


{# The keys and the ordinal, by their names in the changelog and in the memory. #}
{% macro _remembered_columns(copy) %}
    {%- set columns = [] -%}
    {%- for column in delta_scd2.columns_by_key(copy.kept_columns, copy.key_names).key_columns -%}
        {%- do columns.append(dict(column, stored=column.name)) -%}
    {%- endfor -%}
    {%- set type = delta_scd2.ordinal_type(copy.ordinal.data_type) -%}
    {%- do columns.append(dict(copy.ordinal, data_type=type, stored='_change_ordinal')) -%}
    {{- return(columns) -}}
{% endmacro %}


{# How many changes are older than what is remembered, and how many are to be remembered. #}
{% macro _memory_effects_sql(copy) -%}
select
    count_if({{ delta_scd2.is_older_change_sql('changes', 'remembered') | indent(8) }}) as older,
    count_if(
        remembered._change_ordinal is null
        or {{ delta_scd2.is_older_change_sql('remembered', 'changes') | indent(8) }}
    ) as newer
from (
    {{ delta_scd2.distinct_changes_sql(copy) | indent(4) }}
) as changes
left join {{ copy.ordinals }} as remembered
    on {{ delta_scd2.same_key_sql(copy.key_names, 'remembered', 'changes') }}
{%- endmacro %}


{# Remembers the changes of a batch, and says how many of them were too old to be applied. A commit
   to the copy follows, of rows or of a property: Delta then refuses the MERGE of an overlapping run
   that has read the ordinals before. #}
{% macro _remember_ordinals(copy, writes_rows) %}
    {%- if copy.has_ordinals -%}
        {%- set effects = delta_scd2.run_to_its_end(delta_scd2._memory_effects_sql(copy)).rows[0] -%}
        {%- if effects['newer'] -%}
            {%- do delta_scd2.run_to_its_end(delta_scd2._remember_ordinals_sql(copy)) -%}
            {%- do delta_scd2.run_to_its_end(delta_scd2.set_properties_sql(
                copy.target, {'scd2.ordinals_of': delta_scd2.run_suffix()}
            )) if not writes_rows -%}
        {%- endif -%}
        {{- return({'older': effects['older'] | int}) -}}
    {%- elif delta_scd2.query_any_row(copy.changelog) -%}
        {#- Another run may have begun to remember meanwhile, which this one would forget. -#}
        {%- do delta_scd2.check_properties_unchanged(
            copy.target, delta_scd2.read_properties(copy.target).get('scd2.ordinals_id'), copy.mark
        ) -%}
        {%- do delta_scd2.run_to_its_end(delta_scd2._create_ordinals_sql(copy)) -%}
        {%- do delta_scd2.run_to_its_end(delta_scd2.set_properties_sql(
            copy.target, {'scd2.ordinals_id': copy.new_mark}
        )) -%}
    {%- endif -%}
    {{- return({}) -}}
{% endmacro %}


{% macro _create_ordinals_sql(copy) %}
    {#- The keys may need the mapping that the copy has. -#}
    {%- set properties = dict(
        {
            'scd2.ordinals_id': copy.new_mark,
            'scd2.ordered_by': delta_scd2.redaction_safe_json(delta_scd2._order_of(copy)),
        },
        **delta_scd2.column_mapping_properties()
    ) -%}
    {%- set columns = delta_scd2._remembered_columns(copy) -%}
    {%- do properties.update(delta_scd2.feature_properties(columns)) -%}
    {%- for column in columns if delta_scd2.has_unstorable_name(column) -%}
        {%- do properties.update({'delta.columnMapping.mode': 'name'}) -%}
    {%- endfor -%}
create or replace table {{ copy.ordinals }} using delta
{{ delta_scd2.properties_clause(properties) }}
as
{{ delta_scd2._ordinals_sql(copy) }}
{% endmacro %}


{% macro _remember_ordinals_sql(copy) %}
merge into {{ copy.ordinals }} as remembered
using (
    {{ delta_scd2._ordinals_sql(copy) | indent(4) }}
) as changes
on {{ delta_scd2.same_key_sql(copy.key_names, 'remembered', 'changes') }}
when matched and (
    {{ delta_scd2.is_older_change_sql('remembered', 'changes') | indent(4) }}
) then update set *
when not matched then insert *
{% endmacro %}


{% macro _ordinals_sql(copy) -%}
select
    {%- for column in delta_scd2._remembered_columns(copy)[:-1] %}
    {{ delta_scd2.backticked(column.name) }},
    {%- endfor %}
    _change_ordinal,
    _change_is_deleted,
    current_timestamp() as _change_remembered_at
from (
    {{ delta_scd2.distinct_changes_sql(copy) | indent(4) }}
)
{%- endmacro %}
