{# Delta stores an empty text in a partition column as null, so its version would never be found
   again. #}
{% macro check_empty_partitions(load) %}
    {%- for column in delta_scd2.text_partitions(load, config.get('partition_by')) -%}
        {%- set is_empty = delta_scd2.backticked(column.name) ~ " = ''"
            ~ (' and not _scd2_is_gone' if load.settings.change_type else '') -%}
        {%- set offenders = delta_scd2._offenders(load, load.hashed_rows, is_empty) -%}
        {%- if offenders -%}
            {%- do delta_scd2.raise_refusal(
                'rows have an empty text in `' ~ column.name
                    ~ '`, for which Delta keeps null where it partitions by the '
                    ~ 'column: ' ~ offenders,
                'give it another value in the model, or do not partition by it'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{% endmacro %}
