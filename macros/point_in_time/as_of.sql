{% macro as_of(relation, at, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = delta_scd2._dimension_settings(relation, options) -%}
    {#- A text is converted to a literal; anything else is a SQL expression. -#}
    {%- set at = delta_scd2.timestamp_literal(delta_scd2.ts_micros(at))
        if delta_scd2.is_timestamp_text(at) else at -%}
select *
from {{ relation }}
where
    {{ delta_scd2._valid_at(settings, at) | join('\n    and ') }}
{%- endmacro %}
