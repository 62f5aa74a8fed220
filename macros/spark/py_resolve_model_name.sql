{#- dbt-core 1.11 passes a source to a Python model as a subquery under --empty and --sample, which
    spark.table cannot read; a ref is passed as a plain name. -#}
{% macro spark__resolve_model_name(input_model_name) %}
    {{ return(input_model_name if input_model_name is string else input_model_name.render()) }}
{% endmacro %}
