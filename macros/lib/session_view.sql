{# The name of a temporary view for one part of one model. All threads share one session, and
   names that are only joined could meet: the alias `y__z` in the schema `x`, and `z` in `x__y`.
   So a hash of the parts ends the name. #}
{% macro session_view(relation, part) %}
    {%- set parts = [relation.schema, relation.identifier, part] -%}
    {%- set readable = modules.re.sub('[^0-9A-Za-z_]+', '_', parts | join('__')) -%}
    {{- return(readable ~ '__' ~ local_md5(tojson(parts))[:12]) -}}
{% endmacro %}
