{% macro as_of(relation, at, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = _dimension_settings(relation, options) -%}
    {#- A text is converted to a literal; anything else is a SQL expression. -#}
    {%- set at = timestamp_literal(ts_micros(at)) if is_timestamp_text(at) else at -%}
select *
from {{ relation }}
where
    {{ _valid_at(settings, at) | join('\n    and ') }}
{%- endmacro %}
