{% macro as_of(relation, at, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = _dimension_settings(relation, options) -%}
select *
from {{ relation }}
where
    {{ _valid_at(settings, at) | join('\n    and ') }}
{%- endmacro %}
