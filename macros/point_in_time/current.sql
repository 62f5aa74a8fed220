{% macro current(relation, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = _dimension_settings(relation, options) -%}
select *
from {{ relation }}
where
    {{ _backticked(settings.columns.is_current) }} = {{ _flag_literal(settings, true) }}
    and {{ _backticked(settings.columns.is_deleted) }} = {{ _flag_literal(settings, false) }}
{%- endmacro %}
