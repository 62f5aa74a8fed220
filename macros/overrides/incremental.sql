{#- Overrides of dbt-spark 1.11.0, which names the temporary views of incremental SQL models and
    unit tests after the alias alone. Models with the same alias in two schemas, and unit tests with
    the same name, would read each other's rows. -#}

{% macro spark__make_temp_relation(base_relation, suffix) %}
    {%- set view = delta_scd2.session_view(base_relation, model.unique_id ~ suffix) -%}
    {{- return(base_relation.incorporate(path={'identifier': view}).include(
        database=false, schema=false
    )) -}}
{% endmacro %}


{% macro spark__create_temporary_view(relation, compiled_code) %}
    {{- return(dbt.spark__create_temporary_view(delta_scd2._own_view(relation), compiled_code)) -}}
{% endmacro %}


{% macro process_schema_changes(on_schema_change, source_relation, target_relation) %}
    {{- return(dbt.process_schema_changes(
        on_schema_change, delta_scd2._own_view(source_relation), target_relation
    )) -}}
{% endmacro %}


{% macro dbt_spark_get_incremental_sql(strategy, source, target, existing, unique_key, incremental_predicates) %}
    {{- return(dbt.dbt_spark_get_incremental_sql(
        strategy, delta_scd2._own_view(source), target, existing, unique_key, incremental_predicates
    )) -}}
{% endmacro %}


{#- Only the name that dbt-spark gives to the view of an incremental model is not unique. -#}
{% macro _own_view(relation) %}
    {%- if relation is string or relation.render() | replace('`', '') != this.identifier ~ '__dbt_tmp' -%}
        {{- return(relation) -}}
    {%- endif -%}
    {{- return(relation.incorporate(path={
        'identifier': delta_scd2.session_view(this, 'incremental')
    })) -}}
{% endmacro %}
