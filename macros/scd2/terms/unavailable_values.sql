{# Whether a row has a placeholder in place of a value, in any column or in one of these. #}
{% macro has_unavailable_value_sql(load, columns=none) %}
    {%- set conditions = [] -%}
    {%- for column in (load.unavailable_columns if columns is none else columns) -%}
        {%- do conditions.append(delta_scd2.is_unavailable_sql(
            delta_scd2.backticked(column.name), load.settings.unavailable_value
        )) -%}
    {%- endfor -%}
    {{- return('coalesce(' ~ conditions | join(' or ') ~ ', false)' if conditions else 'false') -}}
{% endmacro %}


{# The placeholder of each column that may have one, as the table records them. #}
{% macro placeholders_of(load) %}
    {%- set placeholders = {} -%}
    {%- for name in delta_scd2.lower_names(load.unavailable_columns) -%}
        {%- do placeholders.update({name: load.settings.unavailable_value}) -%}
    {%- endfor -%}
    {{- return(placeholders) -}}
{% endmacro %}
