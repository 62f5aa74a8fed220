{% macro _backticked(name) -%}
    `{{ name | replace('`', '``') }}`
{%- endmacro %}
