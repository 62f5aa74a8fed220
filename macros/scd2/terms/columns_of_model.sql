{# The columns that the model returns: those that are kept, without the ones that only the table has. #}
{% macro columns_of_model(load) %}
    {{- return(load.kept_columns | reject('in', load.dropped_columns) | list) -}}
{% endmacro %}
