{# Events that carry a row before and after its change, as rows with a change type. #}
{% macro flatten_changelog(relation, op='op', before='before', after='after', ordinal=none) -%}
    {%- if execute and ordinal is none -%}
        {%- do _refuse(
            '`flatten_changelog` has no `ordinal`',
            'name what tells the order of the events of a key, such as `source.lsn`; a time in milliseconds is the same for several'
        ) -%}
    {%- endif -%}
select
    _change_image.*,
    _change_type,
    _change_ordinal
from (
    select
        coalesce(
            case when lower({{ op }}) = 'd' then {{ before }} when lower({{ op }}) in ('c', 'r', 'u') then {{ after }} end,
            raise_error(concat('a changelog event of type ', coalesce({{ op }}, 'null'), ' has no row to apply'))
        ) as _change_image,
        case lower({{ op }}) when 'u' then 'UPDATE_AFTER' when 'd' then 'DELETE' else 'INSERT' end as _change_type,
        {{ ordinal }} as _change_ordinal
    from {{ relation }}
)
{%- endmacro %}
