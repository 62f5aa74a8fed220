{# The changes of one batch with the values that earlier changes of their keys brought. #}
{% macro _with_earlier_values_sql(changes_sql, keys, change_ordinal, columns, placeholder) -%}
select
    * except ({{ columns | join(', ') }}),
    {%- for column in columns %}
    {%- set is_unavailable = delta_scd2.is_unavailable_sql(column, placeholder) %}
    {{ delta_scd2.last_known_value_sql(
        column, is_unavailable, is_unavailable ~ "\nor _change_kind = 'delete'"
    ) | indent(4) }}{{ ',' if not loop.last }}
    {%- endfor %}
from (
    {{ changes_sql | indent(4) }}
)
window so_far as (
    partition by {{ delta_scd2.backticked_names(keys) | join(', ') }}
    {{ delta_scd2._order_of_changes(change_ordinal) }}
    rows between unbounded preceding and current row
)
{%- endmacro %}


{# The changelog with the values that the copy has. #}
{% macro _with_values_of_copy_sql(copy) -%}
    {%- set names = copy.unavailable_columns | map('lower') | list -%}
select
    source.* except ({{ delta_scd2.backticked_names(copy.unavailable_columns) | join(', ') }})
    {%- for column in copy.other_columns if column.name | lower in names %},
    {%- set value = 'source.' ~ delta_scd2.backticked(column.name) %}
    if(
        {{ delta_scd2.is_unavailable_sql(value, copy.unavailable_value) | indent(8) }},
        stored.{{ delta_scd2.backticked(column.name) }},
        source.{{ delta_scd2.backticked(column.name) }}
    ) as {{ delta_scd2.backticked(column.name) }}
    {%- endfor %}
from {{ copy.changelog }} as source
left join {{ copy.target }} as stored
    on {{ delta_scd2.same_key_sql(copy.key_names, 'stored', 'source') }}
{%- endmacro %}


{# A row that the copy does not have yet needs all its values, unless it is older than the deletion
   that the copy remembers. #}
{% macro _check_unavailable_values(copy) %}
    {%- set keys = delta_scd2.query_keys(delta_scd2._keys_without_values_sql(copy))
        if copy.unavailable_columns -%}
    {%- if keys -%}
        {%- do delta_scd2.raise_refusal(
            'the changelog holds `' ~ copy.unavailable_value ~ '` in place of values that '
                ~ copy.target ~ ' does not have: ' ~ keys,
            'let the source send these rows whole, as a snapshot does, or put another value in its '
                ~ 'place in the model'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _keys_without_values_sql(copy) -%}
    {%- set values = [] -%}
    {%- for name in copy.unavailable_columns -%}
        {%- do values.append('source.' ~ delta_scd2.backticked(name)) -%}
    {%- endfor -%}
select distinct {{ delta_scd2.key_text_sql(copy, 'source') }} as business_key
from {{ copy.changelog }} as source
    {%- if copy.has_rows %}
left anti join {{ copy.target }} as stored
    on {{ delta_scd2.same_key_sql(copy.key_names, 'stored', 'source') }}
    {%- endif %}
where
    source._change_kind = 'upsert'
    and (
        {{ delta_scd2.any_is_unavailable_sql(values, copy.unavailable_value) | indent(8) }}
    )
    {%- if copy.has_ordinals %}
    and not exists (
        select 1
        from {{ copy.ordinals }} as remembered
        where
            {{ delta_scd2.same_key_sql(copy.key_names, 'remembered', 'source') }}
            and cast(source.{{ copy.change_ordinal }} as {{ delta_scd2.ordinal_type(copy.ordinal.data_type) }})
                < remembered._change_ordinal
    )
    {%- endif %}
order by business_key
limit 10
{%- endmacro %}


{% macro _validate_unavailable_columns(copy) %}
    {%- set mistakes = delta_scd2.validate_unavailable_value(copy.unavailable_value) -%}
    {%- set names = copy.other_columns | map(attribute='name') | map('lower') | list -%}
    {%- for name in copy.unavailable_columns if name | lower not in names -%}
        {%- do mistakes.append('`unavailable_columns` names the column `' ~ name ~ '`, which '
            ~ ('is part of the key' if name | lower in copy.key_names | map('lower')
                else 'the changelog does not hold') ~ ': name others') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
