{# A unique name for a temporary view. All threads share one session, and joined names alone could
   collide: alias `y__z` in schema `x`, and alias `z` in schema `x__y`. A hash of the parts rules
   that out. #}
{% macro session_view(relation, part) %}
    {%- set parts = [relation.schema, relation.identifier, part] -%}
    {%- set readable = modules.re.sub('[^0-9A-Za-z_]+', '_', parts | join('__')) -%}
    {{- return(readable ~ '__' ~ local_md5(tojson(parts))[:12]) -}}
{% endmacro %}
