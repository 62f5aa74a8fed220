{# A load has seven steps; the first six return a new record. See docs/how-a-load-works.md. #}
{% materialization scd2, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = delta_scd2.existing_target() -%}
    {%- set recorded = {} if existing is none else delta_scd2.read_properties(existing) -%}
    {%- set begins = existing is none or delta_scd2.query_built_partially(existing, recorded) -%}
    {%- set replaces = begins or delta_scd2.is_full_refresh() -%}
    {%- do delta_scd2.check_full_refresh(existing) if replaces and not begins -%}

    {{ run_hooks(pre_hooks) }}

    {%- if existing is not none and delta_scd2.is_partial_run() -%}
        {#- A subset of the rows would look like a full extract. -#}
        {%- do delta_scd2.skip_partial_run('dimension') -%}
    {%- else -%}
        {%- do delta_scd2.set_commit_metadata() -%}
        {%- set source = delta_scd2.session_view(this, 'source') -%}
        {%- if model.language == 'python' -%}
            {#- dbt runs Python only in a statement written in the materialization itself. -#}
            {%- call statement('main', language='python') -%}
                {{ delta_scd2.py_register_view(compiled_code, source) }}
            {%- endcall -%}
        {%- else -%}
            {%- do delta_scd2.check_repeated_columns(compiled_code) -%}
            {%- call statement('source') -%}
                {{ create_temporary_view(source, compiled_code) }}
            {%- endcall -%}
        {%- endif -%}

        {%- set load = delta_scd2._prepare_load(
            source, target_relation, existing, replaces, recorded
        ) -%}
        {%- set load = delta_scd2._read_input(load) -%}
        {%- set load = load if load.is_compared
            else delta_scd2._stage_changes(delta_scd2._plan_load(load)) -%}
        {%- set load = dict(load, newly_consumed=delta_scd2.query_newly_consumed(load)) -%}
        {%- do delta_scd2._write(load) -%}
        {%- do delta_scd2._record(load) -%}
        {%- do delta_scd2._drop_views(load) -%}
        {%- set revokes = should_revoke(existing, full_refresh_mode=replaces) -%}
        {%- do apply_grants(target_relation, config.get('grants'), revokes) -%}
        {%- do delta_scd2.persist_docs_of(target_relation) -%}
    {%- endif -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{% macro _drop_views(load) %}
    {%- do delta_scd2.run_to_its_end('drop view ' ~ load.hashed_rows)
        if load.hashed_rows != load.staged_rows -%}
    {%- do delta_scd2.run_to_its_end('drop view ' ~ load.source_view) if load.source_view -%}
    {%- do delta_scd2.drop_staged() -%}
    {%- do delta_scd2.run_to_its_end('drop view ' ~ load.source) -%}
{% endmacro %}
