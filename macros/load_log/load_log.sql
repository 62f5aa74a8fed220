{# A table for `log_loads` to write to. A build creates it where it is missing; to one that is there
   it adds columns that are missing. #}
{% materialization load_log, adapter='spark' %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = delta_scd2.existing_target() -%}

    {{ run_hooks(pre_hooks) }}

    {%- do delta_scd2.check_target(target_relation, existing) -%}
    {%- do delta_scd2._add_missing_columns(existing) if existing is not none -%}
    {%- call statement('main') -%}
        {{ delta_scd2._create_load_log_sql(target_relation, compiled_code, config) }}
    {%- endcall -%}
    {%- set revokes = should_revoke(existing, full_refresh_mode=false) -%}
    {%- do apply_grants(target_relation, config.get('grants'), revokes) -%}
    {%- do delta_scd2.persist_docs_of(target_relation) -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{# Adds what a later release of this package logs to a log that is there. #}
{% macro _add_missing_columns(log) %}
    {%- set described = delta_scd2.run_to_its_end('describe table ' ~ log) -%}
    {%- set stored = described.columns['col_name'].values() | map('lower') | list -%}
    {%- set missing = [] -%}
    {%- for name, data_type in delta_scd2._load_log_columns().items() if name not in stored -%}
        {%- do missing.append({'name': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {%- for statement_sql in delta_scd2.add_columns_statements(log, missing) -%}
        {%- do delta_scd2.run_to_its_end(statement_sql) -%}
    {%- endfor -%}
{% endmacro %}


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
