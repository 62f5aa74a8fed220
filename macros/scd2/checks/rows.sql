{# The times among the rows of the model, oldest first, with the number of rows of each; every
   row has a time, a whole key and a kind of change that is known. Of rows of single keys the
   first and the last time, and the number of all. #}
{% macro check_rows(load) %}
    {%- set settings = load.settings -%}
    {%- set reads_extracts = settings.reads_extracts -%}
    {%- set row_counts = {} -%}
    {%- for row in run_query(delta_scd2._row_counts_by_time_sql(load)) if row['row_count'] -%}
        {%- do delta_scd2._check_extract(load, row) -%}
        {%- do row_counts.update({row['last_time'] | int: 0}) -%}
        {%- do row_counts.update({row['first_time'] | int: row['row_count'] | int}) -%}
    {%- endfor -%}
    {%- do delta_scd2.check_empty_partitions(load) if row_counts -%}
    {%- set nameless = delta_scd2._offenders(load,
        delta_scd2.is_inferred_sql(settings) ~ ' and (' ~ delta_scd2.any_is_null_sql(load.key_columns) ~ ')')
        if settings.inferred_member -%}
    {%- if nameless -%}
        {%- do delta_scd2.raise_refusal(
            'placeholders have a null in the business key: ' ~ nameless,
            'filter these rows in the model, or give the null a value there, as `coalesce` does; `unknown_member` is for facts without '
                ~ 'a key'
        ) -%}
    {%- endif -%}
    {%- set real_rows = load.source ~ (' where not ' ~ delta_scd2.is_inferred_sql(settings) if settings.inferred_member else '') -%}
    {%- if reads_extracts and not row_counts and not delta_scd2.has_rows(real_rows) -%}
        {%- if settings.min_rows > 0 -%}
            {%- do delta_scd2._raise_few_rows('the extract', 0, settings) -%}
        {%- elif not settings.effective_at -%}
            {%- do row_counts.update({load.run_started_at: 0}) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(row_counts) -}}
{% endmacro %}


{# Every row has a time, a whole key, a kind of change that is known and its place in the order;
   and there are enough of them. #}
{% macro _check_extract(load, row) %}
    {%- set settings = load.settings -%}
    {%- set from_column = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set reads_extracts = settings.reads_extracts -%}
    {%- if row['null_times'] -%}
        {%- do delta_scd2.raise_refusal(
            row['null_times'] ~ ' row(s) have no `' ~ settings.effective_at ~ '`: '
                ~ delta_scd2._offenders(load, from_column ~ ' is null'),
            'give every row the time ' ~ ('of its extract' if reads_extracts else 'at which it became true')
        ) -%}
    {%- endif -%}
    {%- do delta_scd2._check_effective_times(load, row) -%}
    {%- set extract_time = row['first_time'] | int -%}
    {%- set which = 'the extract of ' ~ delta_scd2.utc_text(extract_time) ~ ' UTC' if reads_extracts else 'the batch' -%}
    {%- set is_this = from_column ~ ' = ' ~ delta_scd2.timestamp_literal(extract_time) if reads_extracts else 'true' -%}
    {%- if row['null_keys'] -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' has ' ~ row['null_keys'] ~ ' row(s) with a null in the business key: '
                ~ delta_scd2._offenders(load, is_this ~ ' and (' ~ delta_scd2.any_is_null_sql(load.key_columns) ~ ')'),
            'filter these rows in the model, give the null a value there, as `coalesce` does, or fix them at the source'
        ) -%}
    {%- elif row['unknown_changes'] -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' has ' ~ row['unknown_changes'] ~ ' row(s) whose `' ~ settings.change_type ~ '` is unknown: '
                ~ delta_scd2._offenders(load, is_this ~ ' and _scd2_is_gone is null'),
            'map the column to insert, update or delete in the model'
        ) -%}
    {%- elif row['null_sequences'] -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' has ' ~ row['null_sequences'] ~ ' row(s) with a null in `sequence_by`: '
                ~ delta_scd2._offenders(load, is_this ~ ' and (' ~ delta_scd2.any_is_null_sql(load.sequence_columns) ~ ')'),
            'give every row its place in the order'
        ) -%}
    {%- elif reads_extracts and row['row_count'] < settings.min_rows -%}
        {%- do delta_scd2._raise_few_rows(which, row['row_count'], settings) -%}
    {%- endif -%}
{% endmacro %}


{# How many rows, and what is wrong with them: by extract, or of all rows of single keys, which
   may have as many times. #}
{% macro _row_counts_by_time_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set from_column = delta_scd2.backticked(settings.columns.effective_from) -%}
select
    unix_micros(min({{ from_column }})) as first_time,
    unix_micros(max({{ from_column }})) as last_time,
    count(*) as row_count,
    count_if({{ from_column }} is null) as null_times,
    count_if({{ delta_scd2.any_is_null_sql(load.key_columns) }}) as null_keys,
    count_if({{ '_scd2_is_gone is null' if settings.change_type else 'false' }}) as unknown_changes,
    count_if({{ delta_scd2.any_is_null_sql(load.sequence_columns) or 'false' }}) as null_sequences
from {{ load.staged_rows }}
    {%- if settings.inferred_member %}
where not {{ delta_scd2.is_inferred_sql(settings) }}
    {%- endif %}
    {%- if settings.reads_extracts %}
group by {{ from_column }}
order by first_time nulls first
    {%- endif %}
{% endmacro %}


{% macro _offenders(load, where) %}
    {{- return(delta_scd2.query_keys(delta_scd2._offenders_sql(load, where))) -}}
{% endmacro %}


{# Up to ten business keys, as text for a message. #}
{% macro _offenders_sql(load, where) %}
select distinct {{ delta_scd2.key_text_sql(load) }} as business_key
from {{ load.hashed_rows }}
where {{ where }}
order by business_key
limit 10
{% endmacro %}
