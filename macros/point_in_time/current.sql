{% macro current(relation, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = delta_scd2._dimension_settings(relation, options) -%}
select *
from {{ delta_scd2._all_versions(relation) }}
where
    {{ delta_scd2.is_current_sql(settings) }}
    and {{ delta_scd2.is_not_deleted_sql(settings) }}
{%- endmacro %}
