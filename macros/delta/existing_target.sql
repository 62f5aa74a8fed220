{# This model's table, or none. dbt-spark treats a schema as empty if a table is dropped while it
   lists them; the dimension must not be created anew because of that. #}
{% macro existing_target() %}
    {%- set known = load_cached_relation(this) -%}
    {%- if known is none and delta_scd2.query_exists(this) -%}
        {%- do delta_scd2.raise_refusal(
            this ~ ' exists, but dbt did not find it when it listed the tables of its schema, as '
                ~ 'happens while another one is dropped',
            'run this model again'
        ) -%}
    {%- endif -%}
    {{- return(known) -}}
{% endmacro %}


{# Raises an error if the catalog lost this model's table, or has something else in its place. #}
{% macro check_target(target_relation, existing) %}
    {%- do delta_scd2.check_lost_table(target_relation, config.get('location_root')) if existing is none
        else delta_scd2.raise_mistakes(delta_scd2._unsupported_target(existing)) -%}
{% endmacro %}


{% macro _unsupported_target(existing) %}
    {%- if existing.is_view -%}
        {{- return(['a view named ' ~ existing ~ ' is in the way: drop or rename it']) -}}
    {%- elif not existing.is_delta -%}
        {{- return([
            'the table ' ~ existing
                ~ ' is not a Delta table: convert it (`convert to delta`) or drop it'
        ]) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}
