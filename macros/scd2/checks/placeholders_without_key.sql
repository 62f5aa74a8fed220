{% macro _check_placeholders_without_key(load) %}
    {%- set offenders = _offenders(load, is_inferred_sql(load.settings) ~ ' and (' ~ any_is_null_sql(load.key_columns) ~ ')')
        if load.settings.inferred_member -%}
    {%- if offenders -%}
        {%- do raise_refusal(
            'placeholders have a null in the business key: ' ~ offenders,
            'filter these rows in the model, or give the null a value there, as `coalesce` does; `unknown_member` is for facts without '
                ~ 'a key'
        ) -%}
    {%- endif -%}
{% endmacro %}
