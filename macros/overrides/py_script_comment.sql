{#- dbt asks for this comment as it compiles a Python model, before it does anything for the
    model. -#}
{% macro py_script_comment() %}
    {%- do delta_scd2.check_python_target() -%}
{% endmacro %}
