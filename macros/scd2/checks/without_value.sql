{% macro _check_without_value(load, count) %}
    {%- if count -%}
        {%- do delta_scd2.raise_refusal(
            'the events hold `' ~ load.settings.unavailable_value ~ '` in place of values that no '
                ~ 'event before them has: '
                ~ delta_scd2._offenders(load, load.changes, delta_scd2._is_without_value_sql(load)),
            'let the source send these rows whole, as a snapshot does, or put another value in its '
                ~ 'place in the model'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# A tombstone has the value of the version before it. #}
{% macro _is_without_value_sql(load) -%}
_scd2_action <> 'remove'
and _scd2_gains_placeholder
    {%- if load.settings.keeps_tombstones %}
and {{ delta_scd2.is_not_deleted_sql(load.settings) }}
    {%- endif %}
{%- endmacro %}
