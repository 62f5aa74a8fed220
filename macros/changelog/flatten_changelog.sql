{# Events that carry a row before and after its change, as rows with a change type. #}
{% macro flatten_changelog(relation, op='op', before='before', after='after', ordinal='ts_ms') -%}
select
    _change_image.*,
    _change_type,
    _change_ordinal
from (
    select
        coalesce(
            if(lower({{ op }}) = 'd', {{ before }}, {{ after }}),
            raise_error(concat('a changelog event of type ', coalesce({{ op }}, 'null'), ' has no row to apply'))
        ) as _change_image,
        case lower({{ op }}) when 'u' then 'UPDATE_AFTER' when 'd' then 'DELETE' else 'INSERT' end as _change_type,
        {{ ordinal }} as _change_ordinal
    from {{ relation }}
)
{%- endmacro %}
