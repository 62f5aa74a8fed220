{% macro hash_key(columns) -%}
    {{ delta_scd2.hash_of(delta_scd2._typed_columns(columns), declared=true) }}
{%- endmacro %}
