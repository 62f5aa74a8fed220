{# A table that a build creates where it is missing and else leaves alone, for `log_loads` to
   write to. #}
{% materialization load_log, adapter='spark' %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- call statement('main') -%}
        {{ delta_scd2._create_load_log_sql(target_relation, compiled_code) }}
    {%- endcall -%}
    {%- do delta_scd2.persist_column_docs(target_relation) -%}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{% macro _create_load_log_sql(relation, columns_sql) %}
create table if not exists {{ relation }} using delta as
{{ columns_sql }}
{% endmacro %}
