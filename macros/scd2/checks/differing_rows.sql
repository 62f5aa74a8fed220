{# The columns in which rows of the same key, time and place in the order differ, as text for a
   message. #}
{% macro _differing_columns_text(load, relation) %}
    {%- set columns = delta_scd2.comparable_columns_but(load, load.sequence_columns) -%}
    {%- set names = run_query(delta_scd2._differing_rows_sql(
        load, relation, columns
    )).columns[0].values() | list
        if columns else [] -%}
    {{- return('. They differ in `' ~ delta_scd2.listed(names, separator='`, `') ~ '`'
        if names else '') -}}
{% endmacro %}


{# The names of these columns. #}
{% macro _differing_rows_sql(load, relation, columns) %}
    {%- set settings = load.settings -%}
    {%- set conditions = (['not ' ~ delta_scd2.is_inferred_sql(settings)]
        if settings.inferred_member else [])
        + (['not _scd2_is_gone'] if settings.change_type else []) -%}
    {%- set group = delta_scd2.backticked_columns(load.key_columns + load.sequence_columns)
        + [delta_scd2.backticked(settings.columns.effective_from)] -%}
select distinct column_name
from (
    select array_compact(array(
        {%- for column in columns %}
        {%- set hash = delta_scd2.hash_of([column]) | indent(8) %}
        if(
            min({{ hash }})
            <> max({{ hash }}),
            {{ delta_scd2.sql_string(column.name) }},
            null
        ){{ ',' if not loop.last }}
        {%- endfor %}
    )) as column_names
    from {{ relation }}
    {%- if conditions %}
    where {{ conditions | join(' and ') }}
    {%- endif %}
    group by {{ group | join(', ') }}
    having count(*) > 1
)
lateral view explode(column_names) as column_name
order by column_name
{% endmacro %}
