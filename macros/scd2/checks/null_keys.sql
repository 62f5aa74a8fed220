{% macro _check_null_keys(load, row) %}
    {%- if row['null_keys'] -%}
        {%- do delta_scd2.raise_refusal(
            delta_scd2._rows_of(load, row) ~ ' has ' ~ row['null_keys']
                ~ ' row(s) with a null in the business key: '
                ~ delta_scd2._offenders_among(
                    load, row, delta_scd2.any_is_null_sql(load.key_columns)
                ),
            'fix them at the source, replace the null in the model, for example with `coalesce`, or '
                ~ 'filter these rows there'
                ~ (', which lets the load delete their keys' if load.settings.detects_absence)
        ) -%}
    {%- endif -%}
{% endmacro %}
