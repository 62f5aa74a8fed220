{# Events that carry a row before and after its change, as rows with a change type. #}
{% macro flatten_changelog(relation, op='op', before='before', after='after', ordinal=none, keys=none, columns={}) -%}
    {#- While dbt parses a model, it does not know the options that the arguments may name. -#}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set key_names = delta_scd2._keys_of_model() if keys is none else delta_scd2.as_list(keys) -%}
    {%- do delta_scd2._check_flattening(ordinal, columns, knows_keys=key_names or keys is not none) -%}
select
    _change_image.*,
    {%- for name in columns %}
    {{ delta_scd2.backticked(name) }},
    {%- endfor %}
    _change_type,
    _change_ordinal
from (
    select
        {{ op }} as _change_op,
        array({{ before }}, {{ after }}) as _change_images,
        {%- for name, expression in columns.items() %}
        {{ expression }} as {{ delta_scd2.backticked(name) }},
        {%- endfor %}
        {{ ordinal }} as _change_ordinal
    from {{ relation }}
    where
        -- a tombstone, which follows a deletion, says nothing
        {{ op }} is not null
        or {{ before }} is not null
        or {{ after }} is not null
)
lateral view inline(
    {%- if key_names %}
    if(
        lower(_change_op) = 'u'
        and _change_images[0] is not null
        and _change_images[1] is not null
        and not ({{ delta_scd2.same_key_sql(key_names, '_change_images[0]', '_change_images[1]') }}),
        array(
            struct(_change_images[0] as image, 'DELETE' as kind),
            struct(_change_images[1] as image, 'UPDATE_AFTER' as kind)
        ),
        {{ delta_scd2._row_of_event_sql() | indent(8) }}
    )
    {%- else %}
    {{ delta_scd2._row_of_event_sql() | indent(4) }}
    {%- endif %}
) as _change_image, _change_type
{%- endmacro %}


{% macro _check_flattening(ordinal, columns, knows_keys) %}
    {%- if ordinal is none -%}
        {%- do delta_scd2.raise_refusal(
            '`flatten_changelog` has no `ordinal`',
            'name what tells the order of the events of a key, such as `source.lsn`; several '
                ~ 'events can have the same time in milliseconds'
        ) -%}
    {%- endif -%}
    {%- do delta_scd2.raise_mistakes([
        delta_scd2.wrong_value('columns', columns, 'a mapping of names to SQL expressions')
    ]) if columns is not mapping -%}
    {%- if not knows_keys -%}
        {%- do delta_scd2.raise_refusal(
            '`flatten_changelog` does not know which fields identify a row, and an update may change them',
            'give them as `keys`'
                ~ (', as a unit test does not see `unique_key`' if model.resource_type == 'unit_test')
                ~ '; or `keys=[]` if no update ever does'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _row_of_event_sql() -%}
array(struct(
    coalesce(
        case
            when lower(_change_op) = 'd' then _change_images[0]
            when lower(_change_op) in ('c', 'r', 'u') then _change_images[1]
        end,
        {{ delta_scd2._no_row_to_apply_sql() | indent(8) }}
    ) as image,
    case lower(_change_op) when 'u' then 'UPDATE_AFTER' when 'd' then 'DELETE' else 'INSERT' end as kind
))
{%- endmacro %}


{# What identifies a row where the model says so: in other models than these two `unique_key` has
   another meaning. #}
{% macro _keys_of_model() %}
    {%- set has_keys = config is defined and config.get('materialized') in ['scd1', 'scd2'] -%}
    {{- return(delta_scd2.as_list(config.get('unique_key')) if has_keys else []) -}}
{% endmacro %}


{% macro _no_row_to_apply_sql() -%}
    {%- set remedy = 'Nothing was written. Remedy: let the source send the row (of a deletion the '
        ~ 'row before, in PostgreSQL by `replica identity`), or filter such events in the model; '
        ~ 'after a truncation, load the events after it alone, with --full-refresh; in a dimension, '
        ~ 'turn it into a deletion of each key.' -%}
raise_error(concat(
    {{ delta_scd2.sql_string((model.name ~ ': ' if model is defined else '')
        ~ 'a changelog event of type ') }},
    coalesce(cast(_change_op as string), 'null'),
    ' has no row to apply; its ordinal is ',
    coalesce(cast(_change_ordinal as string), 'null'),
    {{ delta_scd2.sql_string('. ' ~ remedy) }}
))
{%- endmacro %}
