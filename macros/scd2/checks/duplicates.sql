{# Rows that share a business key in one extract. Short hashes, which two keys may share, tell whether to look. #}
{% macro check_duplicates(dimension) %}
    {%- set duplicates = run_query(_given_twice_sql(dimension)).rows -%}
    {%- if duplicates -%}
        {%- set moment = duplicates[0]['_scd2_moment'] -%}
        {%- do raise_refusal(
            'the extract of ' ~ utc_text(moment | int) ~ ' UTC has ' ~ duplicates[0]['too_many']
                ~ ' row(s) too many for their business keys: '
                ~ duplicates | selectattr('_scd2_moment', 'equalto', moment) | map(attribute='_scd2_key') | join('; ')
                ~ _differing_columns_text(dimension, dimension.rows),
            'keep one row a key in the model' ~ (', or add a column to `unique_key`' if not dimension.exists)
        ) -%}
    {%- endif -%}
{% endmacro %}


{# The business keys of which an extract has more than one row, by moment. #}
{% macro _given_twice_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set moment = backticked(settings.columns.effective_from) -%}
select
    unix_micros({{ moment }}) as _scd2_moment,
    {{ key_text_sql(dimension) }} as _scd2_key,
    sum(count(*) - 1) over (partition by {{ moment }}) as too_many
from {{ dimension.rows }}
    {%- if settings.inferred_member %}
where not {{ is_inferred_sql(settings) }}
    {%- endif %}
group by {{ moment }}, {{ column_list(dimension.key_columns) | replace('\n   ', '') }}
having count(*) > 1
order by _scd2_moment, _scd2_key
limit 10
{% endmacro %}


{# How many rows are too many for their business keys. #}
{% macro repeats_sql(dimension) %}
select count(*) - count(distinct {{ backticked(dimension.settings.columns.effective_from) }}, _scd2_key_hash) as repeated
from {{ dimension.rows }}
    {%- if dimension.settings.inferred_member %}
where not {{ is_inferred_sql(dimension.settings) }}
    {%- endif %}
{% endmacro %}
