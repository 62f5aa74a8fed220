{# The number of keys that make a dimension large: from it on, a model that only reads tables is rather
   read twice than staged. #}
{% macro read_twice_from() %}
    {{- return(var('scd2_read_twice_from', 1000000) | int(1000000)) -}}
{% endmacro %}


{# Whether data files of these many bytes make a small dimension, which is compared with an extract at
   once, and rewritten instead of marked. #}
{% macro is_small(byte_count) %}
    {{- return(byte_count < 64 * delta_scd2.read_twice_from()) -}}
{% endmacro %}
