{% macro hash_diff(columns) -%}
    {{ hash_of(_typed_columns(columns) | sort(attribute='name'), declared=true) }}
{%- endmacro %}
