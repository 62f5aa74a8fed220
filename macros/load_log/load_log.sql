{# A table that a build creates where it is missing and else leaves alone, for `log_loads` to
   write to. #}
{% materialization load_log, adapter='spark' %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = delta_scd2.existing_target() -%}

    {{ run_hooks(pre_hooks) }}

    {%- do delta_scd2.check_lost_table(target_relation, config.get('location_root'))
        if existing is none -%}
    {%- call statement('main') -%}
        {{ delta_scd2._create_load_log_sql(target_relation, compiled_code, config) }}
    {%- endcall -%}
    {%- set revokes = should_revoke(existing, full_refresh_mode=false) -%}
    {%- do apply_grants(target_relation, config.get('grants'), revokes) -%}
    {%- do delta_scd2.persist_docs_of(target_relation) -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{% macro _create_load_log_sql(relation, columns_sql, config) %}
    {%- set location_root, properties = config.get('location_root'), config.get('tblproperties') %}
create table if not exists {{ relation }}
using delta
    {%- if location_root %}
location {{ delta_scd2.sql_string(location_root ~ '/' ~ relation.identifier) }}
    {%- endif %}
    {%- if properties %}
{{ delta_scd2.properties_clause(properties) }}
    {%- endif %}
as
{{ columns_sql }}
{% endmacro %}
