{% macro _check_null_sequences(load, row) %}
    {%- if row['null_sequences'] -%}
        {%- do raise_refusal(
            _rows_of(load, row) ~ ' has ' ~ row['null_sequences'] ~ ' row(s) with a null in `sequence_by`: '
                ~ _offenders_among(load, row, _has_no_place_sql(load)),
            'give every row its place in the order'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _has_no_place_sql(load) %}
    {{- return((any_is_null_sql(load.sequence_columns) | trim) or 'false') -}}
{% endmacro %}
