{% macro _check_unknown_changes(load, row) %}
    {%- if row['unknown_changes'] -%}
        {%- do delta_scd2.raise_refusal(
            delta_scd2._rows_of(load, row) ~ ' has ' ~ row['unknown_changes']
                ~ ' row(s) whose `' ~ load.settings.change_type ~ '` is unknown: '
                ~ delta_scd2._offenders_among(load, row, delta_scd2.is_unknown_change_sql(load)),
            'map the column to insert, update or delete in the model; where an update changes the key, '
                ~ 'the rows before and after it need the same `sequence_by`, which no other update may '
                ~ 'have: give them one, or return a deletion instead of the row before the update'
        ) -%}
    {%- endif -%}
{% endmacro %}
