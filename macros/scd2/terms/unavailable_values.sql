{# Whether a row has a placeholder in place of a value, in any column or in one of these. #}
{% macro has_unavailable_value_sql(load, columns=none) %}
    {%- set conditions = [] -%}
    {%- for column in (load.unavailable_columns if columns is none else columns) -%}
        {%- do conditions.append(delta_scd2.is_unavailable_sql(
            delta_scd2.backticked(column.name), load.settings.unavailable_value
        )) -%}
    {%- endfor -%}
    {{- return(conditions | join('\nor ') or 'false') -}}
{% endmacro %}
