{#- Overrides dbt-spark 1.11.0: with a dimension goes the table of the events that it remembers, without which it could not be loaded. -#}
{% macro spark__create_or_replace_clone(this_relation, defer_relation) %}
    {%- set settings = scd2_settings(model) if model.config.materialized == 'scd2' else {} -%}
    {%- set clone_sql = dbt.spark__create_or_replace_clone(this_relation, defer_relation) -%}
    {%- set events = _events_relation(settings, defer_relation) -%}
    {%- if events is none or _recorded_events(events) is none -%}
        {{- return(clone_sql) -}}
    {%- endif -%}
    {%- set copy = _events_relation(settings, this_relation) -%}
    {%- do _refuse_mistakes(_wrong_events(copy, _recorded_events(copy))) -%}
    {#- Delta replaces no rows by a clone. So the dimension is first: where it can be made, what lies beside it is of one that is gone. -#}
    {%- do run_query(clone_sql) -%}
    {%- do run_query('drop table if exists ' ~ copy) -%}
    {{- return(dbt.spark__create_or_replace_clone(copy, events)) -}}
{% endmacro %}
