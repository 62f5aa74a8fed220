{#- Overrides of dbt-spark 1.11.0, whose incremental SQL models name the temporary view of their new rows by the alias alone. Models
    of one alias in two schemas would read each other's rows. -#}

{% macro spark__create_temporary_view(relation, compiled_code) %}
    {{- return(dbt.spark__create_temporary_view(_own_view(relation), compiled_code)) -}}
{% endmacro %}

{% macro process_schema_changes(on_schema_change, source_relation, target_relation) %}
    {{- return(dbt.process_schema_changes(on_schema_change, _own_view(source_relation), target_relation)) -}}
{% endmacro %}

{% macro dbt_spark_get_incremental_sql(strategy, source, target, existing, unique_key, incremental_predicates) %}
    {{- return(dbt.dbt_spark_get_incremental_sql(strategy, _own_view(source), target, existing, unique_key, incremental_predicates)) -}}
{% endmacro %}

{#- Names with a schema, and those that are chosen here, are nobody else's. -#}
{% macro _own_view(relation) %}
    {%- if relation is string or '.' in relation.render() -%}
        {{- return(relation) -}}
    {%- endif -%}
    {{- return(relation.incorporate(path={'identifier': _session_view(this, 'incremental')})) -}}
{% endmacro %}
