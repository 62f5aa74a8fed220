{% macro hash_key(columns) -%}
    {{ hash_of(_typed_columns(columns), declared=true) }}
{%- endmacro %}
