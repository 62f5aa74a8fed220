{# Checks the rows of the model and returns the number of rows per time, oldest first, of a batch as
   `counts_between` tells it; and how many of a first batch do more than open the first version of a
   key. #}
{% macro checked_row_counts(load) %}
    {%- set settings = load.settings -%}
    {%- set row_counts, counted = {}, [] -%}
    {%- for row in run_query(delta_scd2._row_counts_by_time_sql(load)).rows if row['row_count'] -%}
        {%- set row = delta_scd2.numbers_of(row) -%}
        {%- do counted.append(row) -%}
        {%- do delta_scd2._check_null_times(load, row) -%}
        {%- do delta_scd2._check_effective_times(load, row) -%}
        {%- do delta_scd2._check_null_keys(load, row) -%}
        {%- do delta_scd2._check_unknown_changes(load, row) -%}
        {%- do delta_scd2._check_null_sequences(load, row) -%}
        {%- do delta_scd2._check_few_rows(load, row) -%}
        {%- do row_counts.update(delta_scd2.counts_between(row)) -%}
    {%- endfor -%}
    {%- do delta_scd2.check_duplicates(load)
        if counted | map(attribute='repeated', default=0) | sum -%}
    {%- do delta_scd2.check_partition_values(load) if row_counts -%}
    {%- do delta_scd2._check_inferred_without_key(load) -%}
    {%- if settings.reads_extracts and not row_counts
        and not delta_scd2.query_any_row(delta_scd2._real_rows(load, load.source)) -%}
        {%- do delta_scd2._check_empty_extract(load) -%}
        {%- do row_counts.update({load.run_started_at: 0}) if not settings.effective_at -%}
    {%- endif -%}
    {{- return({
        'row_counts': row_counts,
        'other_rows': counted | map(attribute='other_rows', default=0) | sum,
    }) -}}
{% endmacro %}


{# The rows of a batch, which may have as many times as rows: all at the first time, none at the last. #}
{% macro counts_between(row) %}
    {{- return({row['last_time']: 0, row['first_time']: row['row_count']}) -}}
{% endmacro %}


{# The number of rows, and of rows that fail each check: per extract, or in total for rows of single
   keys, which may have as many times as rows. All checks share one pass. Only a first load counts
   repeated keys in it: later ones find them in the search for changed keys, or by `repeats_sql`. #}
{% macro _row_counts_by_time_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set from_column = delta_scd2.backticked(settings.columns.effective_from) -%}
select
    unix_micros(min({{ from_column }})) as first_time,
    unix_micros(max({{ from_column }})) as last_time,
    count(*) as row_count,
    count_if({{ delta_scd2.has_no_time_sql(load) }}) as null_times,
    count_if({{ delta_scd2.any_is_null_sql(load.key_columns) }}) as null_keys,
    count_if({{ delta_scd2.is_unknown_change_sql(load) }}) as unknown_changes,
    count_if({{ delta_scd2.has_no_place_sql(load) }}) as null_sequences
    {%- if not load.exists -%}
    ,
    {{ delta_scd2._repeated_sql() ~ ' as repeated' if settings.reads_extracts
        else delta_scd2._other_rows_sql(load) ~ ' as other_rows' }}
    {%- endif %}
from {{ delta_scd2._real_rows(load, load.staged_rows) }}
    {%- if settings.reads_extracts %}
group by {{ from_column }}
order by first_time nulls first
    {%- endif %}
{% endmacro %}


{# Keys whose short hashes are the same count as one, so that their rows are laid out as any others. #}
{% macro _other_rows_sql(load) %}
    {{- return('count(*) - count(distinct ' ~ delta_scd2.short_hash(load.key_columns) ~ ')'
        ~ (' + count_if(_scd2_is_gone)' if load.settings.change_type else '')) -}}
{% endmacro %}


{# The rows of a relation without inferred ones, for a query that has no other condition. #}
{% macro _real_rows(load, relation) %}
    {%- set inferred = delta_scd2.is_inferred_sql(load.settings) if load.settings.inferred_member -%}
    {{- return(relation ~ ('\nwhere not ' ~ inferred if inferred else '')) -}}
{% endmacro %}


{# What a row of the counts refers to, as text for a message. #}
{% macro _rows_of(load, row) %}
    {{- return('the extract of ' ~ delta_scd2.utc_text(row['first_time']) ~ ' UTC'
        if load.settings.reads_extracts else 'the batch') -}}
{% endmacro %}


{# Up to ten business keys of these rows, as text for a message. #}
{% macro _offenders_among(load, row, where) %}
    {%- set is_this = delta_scd2.backticked(load.settings.columns.effective_from) ~ ' = '
        ~ delta_scd2.timestamp_literal(row['first_time'])
        if load.settings.reads_extracts else 'true' -%}
    {{- return(delta_scd2._offenders(load, load.hashed_rows, is_this ~ ' and (' ~ where ~ ')')) -}}
{% endmacro %}


{% macro _offenders(load, relation, where) %}
    {{- return(delta_scd2.query_keys(delta_scd2._offenders_sql(load, relation, where))) -}}
{% endmacro %}


{% macro _offenders_sql(load, relation, where) %}
select distinct {{ delta_scd2.key_text_sql(load) }} as business_key
from {{ relation }}
where {{ where }}
order by business_key
limit 10
{% endmacro %}
