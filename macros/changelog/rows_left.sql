{# The rows of a table, of one version if changes are cut at it. By path, because by its name Delta
   4.4 reads the table instead of its feed where a statement reads both. #}
{% macro _rows_of_table(table, is_cut) %}
    {%- set name = table if table is string else table.render() -%}
    {%- do delta_scd2._check_view(table, name) -%}
    {%- set path = run_query('describe detail ' ~ name).rows[0]['location'] -%}
    {%- set version = delta_scd2.newest_version(name) if is_cut -%}
    {{- return({
        'version': version,
        'names': delta_scd2.backticked_columns(delta_scd2.columns_of(name)),
        'sql': 'delta.' ~ delta_scd2.backticked(path) ~ (' version as of ' ~ version if is_cut else ''),
    }) -}}
{% endmacro %}


{# Changes that come after the rows of the table were read would seem to be undone in it. The next
   run reads them. #}
{% macro _up_to_version_sql(relation, version) -%}
(
    select *
    from {{ relation }}
    where not coalesce(`_commit_version` > {{ version }}, false)
)
{%- endmacro %}


{# The changes, where a deletion of a key of which the table still has a row brings that row: the
   rows that came before the changes are not among them. #}
{% macro _with_rows_left_sql(changes, rows, keys, change_type) -%}
    {%- set type = delta_scd2.backticked(change_type) -%}
select
    {%- for name in rows.names %}
    if(rows_left._change_is_left, rows_left.{{ name }}, changes.{{ name }}) as {{ name }},
    {%- endfor %}
    changes.* except ({{ (rows.names + [type]) | join(', ') }}),
    if(rows_left._change_is_left, 'UPDATE_AFTER', changes.{{ type }}) as {{ type }}
from (
    {{ changes | indent(4) }}
) as changes
left join (
    select
        *,
        true as _change_is_left
    from {{ rows.sql }}
) as rows_left
    on
        {{ delta_scd2.change_kind_sql('changes.' ~ type) | indent(8) }} = 'delete'
        and {{ delta_scd2.same_key_sql(keys, 'changes', 'rows_left') }}
{%- endmacro %}
