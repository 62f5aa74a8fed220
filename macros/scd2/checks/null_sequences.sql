{% macro _check_null_sequences(load, row) %}
    {%- if row['null_sequences'] -%}
        {%- do delta_scd2.raise_refusal(
            delta_scd2._rows_of(load, row) ~ ' has ' ~ row['null_sequences']
                ~ ' row(s) with a null in `sequence_by`: '
                ~ delta_scd2._offenders_among(load, row, delta_scd2.has_no_place_sql(load)),
            'give every row a value there'
        ) -%}
    {%- endif -%}
{% endmacro %}
