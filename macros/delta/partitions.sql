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


{# The columns of text among those by which a table is partitioned, given by their names. #}
{% macro text_partitions(columns, partitions) %}
    {%- set found = [] -%}
    {%- for column in columns
        if column.name | lower in partitions
            and modules.re.match('(string|char|varchar)', column.data_type) -%}
        {%- do found.append(column) -%}
    {%- endfor -%}
    {{- return(found) -}}
{% endmacro %}


{# Delta stores an empty text in a partition column as null, so its row would never be found
   again. #}
{% macro empty_partition(column, offenders) %}
    {{- return({
        'problem': 'rows have an empty text in `' ~ column.name
            ~ '`, for which Delta keeps null where it partitions by the column: ' ~ offenders,
        'remedy': 'give it another value in the model, or partition the table by other columns',
    }) -}}
{% endmacro %}
