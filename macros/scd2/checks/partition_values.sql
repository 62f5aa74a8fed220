{% macro check_partition_values(load) %}
    {%- for column in delta_scd2.lossy_partitions(load.kept_columns, load.detail.partitions) -%}
        {%- set is_lost = delta_scd2.is_lost_partition_sql(column)
            ~ (' and not _scd2_is_gone' if load.settings.change_type else '') -%}
        {%- set offenders = delta_scd2._offenders(load, load.hashed_rows, is_lost) -%}
        {%- do delta_scd2.raise_refusal(**delta_scd2.lost_partition(column, offenders)) if offenders -%}
    {%- endfor -%}
{% endmacro %}
