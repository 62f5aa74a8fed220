{#- dbt-core 1.11: under --empty and --sample a source reaches a Python model as a subquery,
    which spark.table cannot read; a ref comes as a plain name. -#}
{% macro spark__resolve_model_name(input_model_name) %}
    {{ return(input_model_name if input_model_name is string else input_model_name.render()) }}
{% endmacro %}
