{#- Overrides dbt-spark 1.11.0: clones the event table together with its dimension, which could not
    be loaded without it. -#}
{% macro spark__create_or_replace_clone(this_relation, defer_relation) %}
    {%- set settings = delta_scd2.scd2_config(model)
        if model.config.materialized == 'scd2' else {} -%}
    {%- set clone_sql = dbt.spark__create_or_replace_clone(this_relation, defer_relation) -%}
    {%- set events = delta_scd2.event_log_relation(settings, defer_relation) -%}
    {%- if events is none or delta_scd2.event_log_properties(events) is none -%}
        {{- return(clone_sql) -}}
    {%- endif -%}
    {%- set copy = delta_scd2.event_log_relation(settings, this_relation) -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2.validate_event_log(
        copy, delta_scd2.event_log_properties(copy)
    )) -%}
    {#- Delta does not clone over a table with rows. Cloning the dimension first therefore fails
        before its event table is dropped; if it succeeds, that event table belonged to a dimension
        that no longer exists. -#}
    {%- do run_query(clone_sql) -%}
    {%- do run_query('drop table if exists ' ~ copy) -%}
    {{- return(dbt.spark__create_or_replace_clone(copy, events)) -}}
{% endmacro %}
