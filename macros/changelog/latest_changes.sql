{# The last change of every key; of a row that one ordinal takes and brings again, the latter. A row as it was before an update that
   brings its key no more is a deletion: the update changed the key. #}
{% macro latest_changes(relation, keys, change_type='_change_type', change_ordinal='_change_ordinal') -%}
    {%- set type = _backticked(change_type) -%}
select
    * except ({{ type }}, _change_kind, _change_rank),
    if(_change_kind <=> 'before', 'DELETE', {{ type }}) as {{ type }}
from (
    select
        *,
        rank() over (
            partition by {{ _quoted(_as_list(keys)) | join(', ') }}
            order by {{ _backticked(change_ordinal) }} desc, _change_kind = 'before', _change_kind = 'delete'
        ) as _change_rank
    from (
        select
            *,
            {{ _change_kind_sql(type) | indent(12) }} as _change_kind
        from {{ relation }}
    )
)
where _change_rank = 1
{%- endmacro %}
