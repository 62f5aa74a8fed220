{% macro py_load_function() -%}
    {%- if flags.EMPTY -%}
        lambda name: spark.table(name).limit(0)
    {%- else -%}
        spark.table
    {%- endif -%}
{%- endmacro %}
