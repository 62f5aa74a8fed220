{# Rows of one extract with the same business key. Short hashes, which may collide, tell whether
   this query is needed. #}
{% macro check_duplicates(load) %}
    {%- set duplicates = run_query(delta_scd2._duplicate_keys_sql(load)).rows -%}
    {%- if duplicates -%}
        {%- set extract_time = duplicates[0]['_scd2_extract_time'] -%}
        {%- do delta_scd2.raise_refusal(
            'the extract of ' ~ delta_scd2.utc_text(extract_time | int) ~ ' UTC has '
                ~ duplicates[0]['too_many'] ~ ' row(s) that repeat the business key of another one: '
                ~ duplicates | selectattr('_scd2_extract_time', 'equalto', extract_time)
                    | map(attribute='_scd2_key') | join('; ')
                ~ delta_scd2._differing_columns_text(load, load.staged_rows),
            'keep one row of each key ' ~ ('and `' ~ load.settings.effective_at ~ '` ' if load.settings.effective_at)
                ~ 'in the model'
                ~ (', or add a column to `unique_key`' if not load.exists)
        ) -%}
    {%- endif -%}
{% endmacro %}


{# The business keys with more than one row in an extract, per extract. #}
{% macro _duplicate_keys_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) -%}
select
    unix_micros({{ effective_from }}) as _scd2_extract_time,
    {{ delta_scd2.key_text_sql(load) }} as _scd2_key,
    sum(count(*) - 1) over (partition by {{ effective_from }}) as too_many
from {{ delta_scd2._real_rows(load, load.staged_rows) }}
group by {{ effective_from }}, {{ delta_scd2.columns_in_line(load.key_columns) }}
having count(*) > 1
order by _scd2_extract_time, _scd2_key
limit 10
{% endmacro %}


{# The number of surplus rows. #}
{% macro repeats_sql(load) %}
select {{ delta_scd2._repeated_sql(load.settings.columns.effective_from) }} as repeated
from {{ delta_scd2._real_rows(load, load.staged_rows) }}
{% endmacro %}


{# Counts the surplus rows of the extracts that a column tells apart, or of one extract. #}
{% macro _repeated_sql(time_column=none) %}
    {{- return('count(*) - count(distinct '
        ~ (delta_scd2.backticked(time_column) ~ ', ' if time_column else '') ~ '_scd2_key_hash)') -}}
{% endmacro %}


{# A key that stands twice among rows: a relation, or one with a condition. #}
{% macro key_twice_sql(load, rows) %}
select {{ delta_scd2.columns_in_line(load.key_columns) }}
from {{ rows }}
group by {{ delta_scd2.columns_in_line(load.key_columns) }}
having count(*) > 1
limit 1
{% endmacro %}
