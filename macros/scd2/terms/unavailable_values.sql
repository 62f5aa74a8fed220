{# Whether a row has a placeholder in place of a value, in any column or in one of these. #}
{% macro has_unavailable_value_sql(load, columns=none) %}
    {%- set columns = load.unavailable_columns if columns is none else columns -%}
    {%- set is_unavailable = delta_scd2.any_is_unavailable_sql(
        delta_scd2.backticked_columns(columns), load.settings.unavailable_value
    ) -%}
    {{- return('coalesce(' ~ is_unavailable ~ ', false)' if columns else 'false') -}}
{% endmacro %}


{# The placeholder of each column that may have one, as the table records them. #}
{% macro unavailable_values_of(load) %}
    {%- set placeholders = {} -%}
    {%- for name in delta_scd2.lower_names(load.unavailable_columns) -%}
        {%- do placeholders.update({name: load.settings.unavailable_value}) -%}
    {%- endfor -%}
    {{- return(placeholders) -}}
{% endmacro %}
