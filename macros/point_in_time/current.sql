{% macro current(relation, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = _dimension_settings(relation, options) -%}
select *
from {{ relation }}
where
    {{ backticked(settings.columns.is_current) }} = {{ flag_literal(settings, true) }}
    and {{ backticked(settings.columns.is_deleted) }} = {{ flag_literal(settings, false) }}
{%- endmacro %}
