{# A copy that remembers goes on with its own memory, or not at all: without it older changes
   would be taken for new ones. #}
{% macro _check_lost_memory(copy) %}
    {%- set forget = 'let the copy forget them with `alter table ' ~ copy.target
        ~ " unset tblproperties ('scd2.ordinals_id')`" -%}
    {%- if copy.mark is none -%}
        {{- return('') -}}
    {%- elif not copy.remembers -%}
        {%- do delta_scd2.raise_refusal(
            copy.target ~ ' remembers the ordinals of its changes, and the model returns '
                ~ ('net changes of a range, which are in no order' if copy.is_range
                    else 'none in ' ~ copy.change_ordinal),
            'return events with their ordinal, or ' ~ forget
        ) -%}
    {%- elif copy.beside is none or copy.beside['scd2.ordinals_id'] != copy.mark -%}
        {%- do delta_scd2.raise_refusal(
            copy.target ~ ' remembers the ordinals of its changes in ' ~ copy.ordinals ~ ', which '
                ~ ('is not there' if copy.beside is none else 'belongs to another copy'),
            'restore it (of a copy that was cloned, clone it too), load the whole changelog with '
                ~ '--full-refresh, or ' ~ forget ~ ': the next load then begins to remember'
        ) -%}
    {%- endif -%}
    {%- do delta_scd2._check_other_memory(copy, forget ~ ': the next load then begins to remember') -%}
{% endmacro %}


{# Ordinals of another key, or by which changes are ordered no more, tell nothing of this changelog. #}
{% macro _check_other_memory(copy, forget) %}
    {%- set or_else = ', load the whole changelog with --full-refresh, or ' ~ forget -%}
    {%- set columns = delta_scd2._remembered_columns(copy) -%}
    {%- set types = delta_scd2.types_by_name(delta_scd2.columns_of(copy.ordinals)) -%}
    {%- for column in columns if column.stored | lower not in types -%}
        {%- do delta_scd2.raise_refusal(
            copy.ordinals ~ ' lacks the column `' ~ column.name ~ '`, which `unique_key` names',
            'take it out of `unique_key`' ~ or_else
        ) -%}
    {%- endfor -%}
    {%- for column in columns if types[column.stored | lower] != column.data_type -%}
        {%- do delta_scd2.raise_refusal(
            'the column `' ~ column.name ~ '` is ' ~ column.data_type ~ ' in the changelog and '
                ~ types[column.stored | lower] ~ ' in ' ~ copy.ordinals,
            'cast it in the model' ~ or_else
        ) -%}
    {%- endfor -%}
    {%- set added = ['_change_is_deleted', '_change_remembered_at'] -%}
    {%- for name in types if name not in columns | map(attribute='stored') | map('lower') | list + added -%}
        {%- do delta_scd2.raise_refusal(
            copy.ordinals ~ ' has the key column `' ~ name ~ '`, which `unique_key` does not name',
            'name it in `unique_key`' ~ or_else
        ) -%}
    {%- endfor -%}
    {%- set now = delta_scd2._order_of(copy) -%}
    {%- set before = fromjson(copy.beside.get('scd2.ordered_by', tojson(now))) -%}
    {%- do delta_scd2.raise_refusal(
        copy.ordinals ~ ' holds ordinals from the column `' ~ before ~ '`, and the changelog has `' ~ now ~ '`',
        'order the changes by the column and type of before' ~ or_else
    ) if before != now -%}
{% endmacro %}


{# What orders the changes: the stored ordinals have no name, and the fields of a struct have others. #}
{% macro _order_of(copy) %}
    {{- return(copy.ordinal.name | lower ~ ' ' ~ copy.ordinal.data_type | lower) -}}
{% endmacro %}
