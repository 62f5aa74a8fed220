{# The changes with their kind. A row before an update that brings its key no more is a deletion,
   because the update changed the key. #}
{% macro changes_to_apply_sql(relation, copy) -%}
    {%- set key = delta_scd2.columns_in_line(copy.key_columns) -%}
    {%- set order = delta_scd2._order_column(copy) -%}
    {#- Spark orders neither maps nor variants. A null in a struct is one more value. -#}
    {%- set is_ordered = order is not none
        and 'map<' not in order.data_type and not delta_scd2.variant_columns([order]) -%}
    {%- set ordinal = 'struct(' ~ (delta_scd2.backticked(order.name) if is_ordered else '1') ~ ')' -%}
select
    * except (_change_kind, _change_last_other),
    if(
        _change_kind = 'before'
        and not coalesce(_change_last_other >= {{ ordinal }}, false),
        'delete',
        _change_kind
    ) as _change_kind
from (
    select
        *,
        max(if(_change_kind <=> 'before', null, {{ ordinal }})) over (partition by {{ key }}) as _change_last_other
    from (
        {{ delta_scd2.changes_by_kind_sql(relation, copy.change_type) | indent(8) }}
    )
)
{%- endmacro %}


{# The column that tells which rows of an update belong together: without an ordinal the version, if
   the changes are rows of Delta's feed, or none. #}
{% macro _order_column(copy) %}
    {%- for column in copy.kept_columns
        if copy.ordinal is none and (column.name_in_model or column.name) | lower == '_commit_version' -%}
        {{- return(column) -}}
    {%- endfor -%}
    {{- return(copy.ordinal) -}}
{% endmacro %}


{# Stages the changes that a query gives, without lengths and defaults, so that they are evaluated
   once: what is checked is what is written. #}
{% macro stage_changelog(staged, query, copy) %}
    {%- set rows = '(\n    ' ~ delta_scd2.unbound_query(query) | indent(4) ~ '\n)' -%}
    {%- do delta_scd2.stage_table(staged, delta_scd2.changes_to_apply_sql(rows, copy)) -%}
{% endmacro %}


{# The changes that are not older than what the copy remembers. #}
{% macro _effective_changes_sql(copy) -%}
    {%- if not copy.has_ordinals -%}
{{ delta_scd2.distinct_changes_sql(copy) }}
    {%- else -%}
select *
from (
    {{ delta_scd2.distinct_changes_sql(copy) | indent(4) }}
) as changes
left anti join {{ copy.ordinals }} as remembered
    on
        {{ delta_scd2.same_key_sql(copy.key_names, 'remembered', 'changes') }}
        and (
            {{ delta_scd2.is_older_change_sql('changes', 'remembered') | indent(12) }}
        )
    {%- endif -%}
{%- endmacro %}


{# What the changelog says of the keys after their changes, once where it says so twice. #}
{% macro distinct_changes_sql(copy) -%}
    {%- if not copy.has_copies -%}
{{ delta_scd2._changes_of_keys_sql(copy) }}
    {%- else -%}
    {%- set key = delta_scd2.columns_in_line(copy.key_columns) -%}
select *
from (
    select
        *,
        row_number() over (partition by {{ key }} order by true) as _change_copy
    from (
        {{ delta_scd2._changes_of_keys_sql(copy) | indent(8) }}
    )
)
where _change_copy = 1
    {%- endif -%}
{%- endmacro %}


{% macro _changes_of_keys_sql(copy) -%}
select
    {{ delta_scd2.column_list(copy.kept_columns) }},
    {%- if copy.remembers %}
    cast({{ copy.change_ordinal }} as {{ delta_scd2.ordinal_type(copy.ordinal.data_type) }}) as _change_ordinal,
    _change_kind = 'delete' as _change_is_deleted,
    {%- endif %}
    _change_kind
    {%- if copy.unavailable_columns and copy.has_rows %}
from (
    {{ delta_scd2._with_values_of_copy_sql(copy) | indent(4) }}
)
    {%- else %}
from {{ copy.changelog }}
    {%- endif %}
where _change_kind <> 'before'
{%- endmacro %}


{# The type in which an ordinal is kept: the fields of a struct are compared by their place, and
   their names may be none that a table can have. #}
{% macro ordinal_type(type) %}
    {%- if 'struct<' not in type -%}
        {{- return(type) -}}
    {%- endif -%}
    {%- set parsed = delta_scd2.parsed_type(type) -%}
    {%- set arguments = [] -%}
    {%- for argument in parsed.arguments -%}
        {%- do arguments.append('f' ~ loop.index ~ ':'
            ~ delta_scd2.ordinal_type(delta_scd2.parsed_field(argument).type)
            if parsed.name == 'struct'
            else delta_scd2.ordinal_type(argument)) -%}
    {%- endfor -%}
    {{- return(parsed.name ~ '<' ~ arguments | join(',') ~ '>') -}}
{% endmacro %}


{# Whether one change of a key is older than another. Of two with one ordinal that take and bring the
   key, bringing it is the later one. #}
{% macro is_older_change_sql(change, other) -%}
{{ change }}._change_ordinal < {{ other }}._change_ordinal
or (
    {{ change }}._change_ordinal = {{ other }}._change_ordinal
    and {{ change }}._change_is_deleted
    and not {{ other }}._change_is_deleted
)
{%- endmacro %}
