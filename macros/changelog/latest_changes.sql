{# The last change of every key; of a row that one ordinal takes and brings again, the latter. #}
{% macro latest_changes(relation, keys, change_type='_change_type', change_ordinal='_change_ordinal') -%}
    {%- set kind = _change_kind_sql(_backticked(change_type)) | indent(12) -%}
select * except (_change_rank)
from (
    select
        *,
        rank() over (
            partition by {{ _quoted(_as_list(keys)) | join(', ') }}
            order by
                {{ _backticked(change_ordinal) }} desc,
                {{ kind | indent(4) }} = 'delete'
        ) as _change_rank
    from {{ relation }}
    where
        not ({{ kind }} <=> 'before')
)
where _change_rank = 1
{%- endmacro %}
