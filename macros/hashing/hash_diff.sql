{% macro hash_diff(columns) -%}
    {{ delta_scd2.hash_of(
        delta_scd2._typed_columns(columns) | sort(attribute='name'), declared=true
    ) }}
{%- endmacro %}
