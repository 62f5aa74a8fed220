{# What a change type means, by the names of Delta's change data feed, of Iceberg and Foundry, of
   Debezium, and I/U/D: 'upsert', 'delete' or 'before' (the row as it was before an update). Null
   for any other value, of whatever type. A char is padded. #}
{% macro change_kind_sql(column_sql) -%}
    {%- set word = 'lower(rtrim(cast(' ~ column_sql ~ ' as string)))' -%}
case
    when
        {{ word }} in ('insert', 'update', 'upsert', 'update_after', 'update_postimage', 'i', 'u', 'c', 'r')
        then 'upsert'
    when {{ word }} in ('delete', 'd') then 'delete'
    when {{ word }} in ('update_before', 'update_preimage') then 'before'
end
{%- endmacro %}
