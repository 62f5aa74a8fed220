{% macro _check_inferred_without_key(load) %}
    {%- set offenders = delta_scd2._offenders(
        load,
        load.hashed_rows,
        delta_scd2.is_inferred_sql(load.settings)
            ~ ' and (' ~ delta_scd2.any_is_null_sql(load.key_columns) ~ ')'
    ) if load.settings.inferred_member -%}
    {%- if offenders -%}
        {%- do delta_scd2.raise_refusal(
            'inferred rows have a null in the business key: ' ~ offenders,
            'filter these rows in the model, or replace the null there, for example with `coalesce`; '
                ~ '`unknown_member` is for facts without a key'
        ) -%}
    {%- endif -%}
{% endmacro %}
