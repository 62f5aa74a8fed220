{# Maps a change type to 'upsert', 'delete' or 'before' (the row before an update), null for any
   other value of any type. Recognizes the names of Delta's change data feed, Iceberg, Foundry,
   Debezium, and I/U/D. A char is padded, hence `rtrim`. #}
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
