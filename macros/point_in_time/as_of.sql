{% macro as_of(relation, at, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = delta_scd2._dimension_settings(relation, options) -%}
    {%- if modules.re.match('\\s*\\d{4}-?\\d{2}-?\\d{2}', at | string)
        and not delta_scd2.is_timestamp_text(at) -%}
        {%- do exceptions.raise_compiler_error(relation ~ ': `' ~ at
            ~ '` is not a time: write it like 2024-01-31T12:30:00Z') -%}
    {%- endif -%}
    {#- A text is converted to a literal; anything else is a SQL expression. -#}
    {%- set at = delta_scd2.timestamp_literal(delta_scd2.ts_micros(at))
        if delta_scd2.is_timestamp_text(at) else at -%}
select *
from {{ relation }}
where
    {{ delta_scd2._valid_at(settings, at) | join('\n    and ') }}
{%- endmacro %}
