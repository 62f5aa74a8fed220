{# Every row needs a time, which also tells to which extract it belongs. #}
{% macro _check_null_times(load, row) %}
    {%- if row['null_times'] -%}
        {%- do delta_scd2.raise_refusal(
            row['null_times'] ~ ' row(s) have no `' ~ load.settings.effective_at ~ '`: '
                ~ delta_scd2._offenders(load, load.hashed_rows, delta_scd2.has_no_time_sql(load)),
            'give every row the time '
                ~ ('of its extract' if load.settings.reads_extracts else 'at which it became true')
        ) -%}
    {%- endif -%}
{% endmacro %}
