{% macro hash_key(columns) -%}
    {{ _hash_of(_typed_columns(columns), declared=true) }}
{%- endmacro %}
