{# A unique name for a temporary view. All threads share one session, and joined names alone could
   collide: alias `y__z` in schema `x`, and alias `z` in schema `x__y`. A hash of the parts rules
   that out. #}
{% macro session_view(relation, part) %}
    {%- set hash = local_md5(tojson([relation.schema, relation.identifier, part]))[:12] -%}
    {{- return(delta_scd2._readable_view(relation, part) ~ '__' ~ hash) -}}
{% endmacro %}


{# The beginning of that name, which a person reads. #}
{% macro _readable_view(relation, part) %}
    {%- set names = relation.schema ~ '__' ~ relation.identifier ~ '__' ~ part -%}
    {{- return(modules.re.sub('[^0-9A-Za-z_]+', '_', names)) -}}
{% endmacro %}
