{# The table of a model, whether it exists or not. #}
{% macro _table_of(node) %}
    {{- return(api.Relation.create(schema=node.schema, identifier=node.alias, type='table')) -}}
{% endmacro %}
