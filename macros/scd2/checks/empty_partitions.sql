{% macro check_empty_partitions(load) %}
    {%- for column in delta_scd2.text_partitions(load.kept_columns, load.detail.partitions) -%}
        {%- set is_empty = delta_scd2.backticked(column.name) ~ " = ''"
            ~ (' and not _scd2_is_gone' if load.settings.change_type else '') -%}
        {%- set offenders = delta_scd2._offenders(load, load.hashed_rows, is_empty) -%}
        {%- do delta_scd2.raise_refusal(**delta_scd2.empty_partition(column, offenders)) if offenders -%}
    {%- endfor -%}
{% endmacro %}
