{% macro _check_unknown_changes(load, row) %}
    {%- if row['unknown_changes'] -%}
        {%- do delta_scd2.raise_refusal(
            delta_scd2._rows_of(load, row) ~ ' has ' ~ row['unknown_changes']
                ~ ' row(s) whose `' ~ load.settings.change_type ~ '` is unknown: '
                ~ delta_scd2._offenders_among(load, row, delta_scd2.is_unknown_change_sql(load)),
            'map the column to insert, update or delete in the model; a row before an update that '
                ~ 'changed the key is unknown if no row after it has the same `sequence_by`, or rows of '
                ~ 'several times have it: let both, and no other update, have the same, or return a '
                ~ 'deletion for the first'
        ) -%}
    {%- endif -%}
{% endmacro %}
