{% macro check_same_extract(load, extract_time) %}
    {%- set differences = run_query(delta_scd2._differences_sql(load, extract_time)).rows -%}
    {%- if differences -%}
        {%- set columns = [] -%}
        {%- if load.common_columns or delta_scd2._returned_columns(load, extract_time) -%}
            {%- set names = run_query(delta_scd2._differing_columns_sql(load, extract_time)) -%}
            {%- do columns.extend(names.columns[0].values()) -%}
        {%- endif -%}
        {%- set counts = differences[0] -%}
        {%- do delta_scd2.raise_refusal(
            'the extract of ' ~ delta_scd2.utc_text(extract_time)
                ~ ' UTC was applied before with other rows, ' ~ counts['new_keys'] ~ ' new, '
                ~ counts['changed_keys'] ~ ' changed and ' ~ counts['gone_keys'] ~ ' gone: '
                ~ differences | map(attribute='business_key') | join('; ')
                ~ ('. What changed is `' ~ delta_scd2.listed(columns, separator='`, `') ~ '`'
                    if columns),
            delta_scd2.hint_at_times_of_rows(load)
                ~ ('return all rows of this extract again, ' if counts['gone_keys']
                    and not counts['new_keys'] + counts['changed_keys'])
                ~ 'give a repaired extract a later `effective_at`, or '
                ~ delta_scd2.how_to_rebuild(extract_time)
                ~ ('. A column that has another value in each run belongs to `ignore_columns`'
                    if columns)
        ) -%}
    {%- endif -%}
{% endmacro %}


{# How an extract that was applied before differs from the live rows: the numbers of keys, and ten
   of the keys. #}
{% macro _differences_sql(load, extract_time) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set hash_diff = delta_scd2.backticked(names.hash_diff) -%}
    {%- set new = delta_scd2.lower_names(load.missing_columns + load.overwritten_new_columns) -%}
with {{ delta_scd2._live_and_given_sql(load, extract_time) }},

differences as (
    select
        if(
            extract.{{ key }} is null,
            {{ delta_scd2.key_text_sql(load, 'live') | indent(12) }},
            {{ delta_scd2.key_text_sql(load, 'extract') | indent(12) }}
        ) as business_key,
        live.{{ key }} is null as is_new,
        extract.{{ key }} is null as is_gone
    from live
    full join extract
        on live.{{ key }} = extract.{{ key }}
    where
        live.{{ key }} is null
        {%- if not settings.ignores_deletes %}
        or extract.{{ key }} is null
        {%- endif %}
        {%- if load.schema_changed %}
        or {{ delta_scd2.hash_of(load.common_columns, 'extract') | indent(8) }}
        <> {{ delta_scd2.hash_of(load.stored_common_columns, 'live') | indent(8) }}
        {%- for column in delta_scd2._returned_columns(load, extract_time) %}
        or {{ delta_scd2._differs_from_live_sql(load, column) | indent(8) }}
        {%- endfor %}
        {%- else %}
        or live.{{ hash_diff }} <> extract.{{ hash_diff }}
        {%- endif %}
        {%- for column in load.overwrite_columns if column.name | lower not in new %}
        {%- set name = delta_scd2.backticked(column.name) %}
        or (
            live.{{ key }} = extract.{{ key }}
            and not (live.{{ name }} <=> extract.{{ name }})
        )
        {%- endfor %}
)

select
    business_key,
    count_if(is_new) over () as new_keys,
    count_if(not is_new and not is_gone) over () as changed_keys,
    count_if(is_gone) over () as gone_keys
from differences
order by business_key
limit 10
{% endmacro %}


{# The columns in which rows of an extract differ from the live versions of their keys. #}
{% macro _differing_columns_sql(load, extract_time) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.durable_key) -%}
with {{ delta_scd2._live_and_given_sql(load, extract_time) }}

select distinct explode(array_compact(array(
    {%- for column in load.common_columns + delta_scd2._returned_columns(load, extract_time) %}
    if(
        {{ delta_scd2._differs_from_live_sql(load, column) | indent(8) }},
        {{ delta_scd2.sql_string(column.name) }},
        null
    ){{ ',' if not loop.last }}
    {%- endfor %}
))) as column_name
from live
inner join extract
    on live.{{ key }} = extract.{{ key }}
order by column_name
{% endmacro %}


{# The columns that come back with this extract. Where later extracts follow, the column changes with
   the first of them. #}
{% macro _returned_columns(load, extract_time) %}
    {{- return(delta_scd2._columns_that_returned(load)
        if extract_time == load.row_counts.keys() | max else []) -}}
{% endmacro %}


{# Whether an extract has another value than the live version of the key. A column that returns fills
   what is null. #}
{% macro _differs_from_live_sql(load, column) %}
    {%- for stored in load.stored_columns if stored.name | lower == column.name | lower -%}
        {%- set differs = delta_scd2.hash_of([column], 'extract') ~ '\n<> '
            ~ delta_scd2.hash_of([stored], 'live') -%}
        {{- return(differs if column in load.common_columns else '(\n    live.'
            ~ delta_scd2.backticked(stored.name) ~ ' is not null\n    and '
            ~ differs | indent(4) ~ '\n)') -}}
    {%- endfor -%}
{% endmacro %}


{% macro _live_and_given_sql(load, extract_time) -%}
    {%- set settings = load.settings -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) -%}
live as (
    {{ delta_scd2.live_versions_sql(load) | trim | indent(4) }}
),

extract as (
    select *
    from {{ load.hashed_rows }}
    where
        {{ effective_from }} = {{ delta_scd2.timestamp_literal(extract_time) }}
        {%- if settings.inferred_member %}
        and not {{ delta_scd2.is_inferred_sql(settings) }}
        {%- endif %}
)
{%- endmacro %}
