{# A table that a build creates where it is missing and else leaves alone, for `log_loads` to
   write to. #}
{% materialization load_log, adapter='spark' %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = load_cached_relation(this) -%}

    {{ run_hooks(pre_hooks) }}

    {%- do delta_scd2.check_lost_table(target_relation, config.get('location_root'))
        if existing is none -%}
    {%- call statement('main') -%}
        {{ delta_scd2._create_load_log_sql(target_relation, compiled_code) }}
    {%- endcall -%}
    {%- set revokes = should_revoke(existing, full_refresh_mode=false) -%}
    {%- do apply_grants(target_relation, config.get('grants'), revokes) -%}
    {%- do delta_scd2.persist_docs_of(target_relation) -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{# With the configuration of its node, because the end of a run has none. #}
{% macro _create_load_log_sql(relation, columns_sql) %}
    {%- set options = delta_scd2.load_log_node().config %}
create table if not exists {{ relation }}
using delta
    {%- if options.location_root %}
location {{ delta_scd2.sql_string(options.location_root ~ '/' ~ relation.identifier) }}
    {%- endif %}
    {%- if options.tblproperties %}
{{ delta_scd2.properties_clause(options.tblproperties) }}
    {%- endif %}
as
{{ columns_sql }}
{% endmacro %}
