{# dbt-spark writes `partition_by` as it is, so that one text may name several columns. #}
{% macro partition_names(partition_by) %}
    {%- set names = delta_scd2.as_list(partition_by) | join(',') | replace('`', '') | lower -%}
    {{- return(names.split(',') | map('trim') | select | list) -}}
{% endmacro %}


{# Columns of `partition_by` that a new table would not have. #}
{% macro validate_partitions(names) %}
    {%- set mistakes = [] -%}
    {%- for partition in delta_scd2.partition_names(config.get('partition_by'))
        if partition not in names | map('lower') -%}
        {%- set near = delta_scd2.closest_match(partition, names) -%}
        {%- do mistakes.append('`partition_by` names the column `' ~ partition
            ~ '`, which the table does not have: '
            ~ ('did you mean `' ~ near ~ '`?' if near else 'name one of its columns')) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# Delta writes timestamps in partition names as local time of the session, in which one hour of
   the year may occur twice. #}
{% macro ambiguous_timestamps(table, columns, partitions) %}
    {%- set timestamps = columns | selectattr('data_type', 'equalto', 'timestamp') | list -%}
    {%- set found = delta_scd2.lower_names(timestamps) | select('in', partitions) | list -%}
    {%- set zone = delta_scd2.zone_beside_utc() if found -%}
    {%- if not zone -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return([
        'the timestamp `' ~ found | join('`, `') ~ '` is a partition column of ' ~ table
            ~ ', for which Delta keeps what a clock in ' ~ zone ~ ' shows, also where two moments '
            ~ 'show the same: partition by a date, or set `spark.sql.session.timeZone` to `UTC`'
    ]) -}}
{% endmacro %}


{# The columns among the partitions of a table that can have values which Delta does not keep. #}
{% macro lossy_partitions(columns, partitions) %}
    {%- set found = [] -%}
    {%- for column in columns
        if column.name | lower in partitions
            and modules.re.match('(string|char|varchar|binary)', column.data_type) -%}
        {%- do found.append(column) -%}
    {%- endfor -%}
    {{- return(found) -}}
{% endmacro %}


{# Texts for which Delta stores null in a partition column, so that their row is not found again. #}
{% macro null_partitions() %}
    {{- return(['', '__HIVE_DEFAULT_PARTITION__']) -}}
{% endmacro %}


{# Whether a value of such a column would become null, have its bytes replaced, or fail to be the
   name of a directory. #}
{% macro is_lost_partition_sql(column) -%}
    {%- set name = delta_scd2.backticked(column.name) -%}
    {%- set text = 'cast(' ~ name ~ ' as string)' if column.data_type == 'binary' else name -%}
(
    {{ text }} in ('{{ delta_scd2.null_partitions() | join("', '") }}')
    or not is_valid_utf8({{ text }})
    or contains({{ text }}, chr(0))
)
{%- endmacro %}


{% macro lost_partition(column, offenders) %}
    {{- return({
        'problem': 'rows have a value in `' ~ column.name ~ '` ' ~ delta_scd2.not_kept_text() ~ ': ' ~ offenders,
        'remedy': 'give it another value in the model, or partition the table by other columns',
    }) -}}
{% endmacro %}


{% macro not_kept_text() %}
    {{- return('that Delta does not keep where it partitions by the column (an empty text, `'
        ~ delta_scd2.null_partitions()[1] ~ '`, a zero byte or bytes that are not UTF-8)') -}}
{% endmacro %}
