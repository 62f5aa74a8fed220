{# The row that facts without a key reference. Its business key is null, so no source row can
   supersede it. #}
{% macro _unknown_member_sql(load) %}
    {%- set settings = load.settings -%}
    {%- if settings.has_sequence_keys -%}
    -1,
    {% elif settings.has_hash_keys -%}
    {{ _hash_of_nothing(load) }},
    {% endif -%}
    {{ _hash_of_nothing(load) }},
    {%- for column in load.kept_columns %}
    null,
    {%- endfor %}
    {{ hash_of_nulls(load.tracked_columns) }},
    {%- for column in derived_columns(load) %}
    null,
    {%- endfor %}
    {{ beginning_of_time() }},
    {{ open_end_literal(settings) }},
    {{ flag_literal(settings, true) }},
    {{ flag_literal(settings, false) }}
{%- endmacro %}


{% macro _hash_of_nothing(load) %}
    {{- return(hash_of_nulls(load.key_columns)) -}}
{% endmacro %}
