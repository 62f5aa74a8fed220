{% macro same_key_sql(key_names, left, right) %}
    {%- set conditions = [] -%}
    {%- for name in delta_scd2.backticked_names(key_names) -%}
        {%- do conditions.append(left ~ '.' ~ name ~ ' <=> ' ~ right ~ '.' ~ name) -%}
    {%- endfor -%}
    {{- return(conditions | join(' and ')) -}}
{% endmacro %}
