{% macro current(relation, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = delta_scd2._dimension_settings(relation, options) -%}
select *
from {{ relation }}
where
    {{ delta_scd2.is_current_sql(settings) }}
    and {{ delta_scd2.backticked(settings.columns.is_deleted) }} = {{ delta_scd2.flag_literal(settings, false) }}
{%- endmacro %}
