{% macro as_of(relation, at, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = delta_scd2._dimension_settings(relation, options) -%}
    {%- do delta_scd2.raise_mistakes_of(
        relation, ['the time is `' ~ at ~ '`: give one, as text or as a SQL expression']
    ) if not at | string | trim or at is none or at is undefined -%}
    {%- set micros = delta_scd2.ts_micros(at) -%}
    {%- do delta_scd2.raise_mistakes_of(
        relation, ['`' ~ at ~ '` is not a time: write it like 2024-01-31T12:30:00Z']
    ) if micros is none and modules.re.match('\\s*(\\d{4}-\\d{1,2}-\\d{1,2}|\\d{8})', at | string) -%}
    {#- A text is converted to a literal; anything else is a SQL expression. -#}
    {%- set at = delta_scd2.timestamp_literal(micros) if micros is not none else at -%}
select *
from {{ delta_scd2._all_versions(relation) }}
where
    {{ delta_scd2._valid_at(settings, at) | join('\n    and ') }}
{%- endmacro %}
