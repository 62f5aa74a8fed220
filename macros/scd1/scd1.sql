{% materialization scd1, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = delta_scd2.existing_target() -%}
    {%- set recorded = {} if existing is none else delta_scd2.read_properties(existing) -%}
    {%- set replaces = existing is none or should_full_refresh()
        or delta_scd2.query_built_partially(existing, recorded,
            delta_scd2.ordinals_relation(this) if 'scd2.ordinals_id' in recorded else none) -%}

    {{ run_hooks(pre_hooks) }}

    {%- if existing is not none and delta_scd2.is_partial_run() -%}
        {#- A sample of the changes would be taken for the newest ones. -#}
        {%- do delta_scd2.skip_partial_run('copy') -%}
    {%- else -%}
        {%- set source = delta_scd2.session_view(this, 'changelog') -%}
        {%- if model.language == 'python' -%}
            {#- dbt runs Python only for a statement that stands in the materialization itself. -#}
            {%- call statement('main', language='python') -%}
                {{ delta_scd2.py_register_view(compiled_code, source) }}
            {%- endcall -%}
        {%- else -%}
            {%- do delta_scd2.check_repeated_columns(compiled_code) -%}
            {%- call statement('source') -%}
                {{ create_temporary_view(source, compiled_code) }}
            {%- endcall -%}
        {%- endif -%}
        {%- set copy = delta_scd2._prepare_copy(source, target_relation, existing, replaces, recorded) -%}
        {%- set copy = delta_scd2._with_staged_changes(copy, source, replaces) -%}
        {%- do delta_scd2._load_copy(copy, replaces) -%}
        {%- do delta_scd2.drop_staged() -%}
        {%- do run_query('drop view ' ~ source) -%}
        {%- set revokes = should_revoke(existing, full_refresh_mode=replaces) -%}
        {%- do apply_grants(target_relation, config.get('grants'), revokes) -%}
        {%- do delta_scd2.persist_docs_of(target_relation) -%}
    {%- endif -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{# The copy with the rows of the model. #}
{% macro _with_staged_changes(copy, source, replaces) %}
    {%- do delta_scd2.drop_leftovers() -%}
    {%- set staged = delta_scd2.staged_table('rows') -%}
    {%- do delta_scd2.stage_changelog(staged, delta_scd2._changes_of_copy_sql(copy, source), copy) -%}
    {%- set copy = dict(copy, changelog=staged, has_rows=not replaces) -%}
    {%- do delta_scd2._check_end_of_range(copy) -%}
    {{- return(delta_scd2.with_sound_changelog(copy)) -}}
{% endmacro %}


{% macro _prepare_copy(source, target_relation, existing, replaces, recorded) %}
    {%- set settings = delta_scd2.scd1_config(model) -%}
    {%- set described = delta_scd2.describe_view(source) -%}
    {%- set copy = delta_scd2.changelog_copy(target_relation, source, described.columns, settings) -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2.validate_copy_config(model, copy)
        + delta_scd2.unsafe_session_settings()) -%}
    {%- do delta_scd2.check_target(target_relation, existing) -%}
    {%- set target_columns = [] if replaces else delta_scd2.columns_of(existing) -%}
    {%- set copy = dict(copy, partitions=delta_scd2.partition_names(config.get('partition_by'))
        if replaces else delta_scd2.table_detail(existing).partitions) -%}
    {%- set copy = delta_scd2._copy_as_stored(copy, delta_scd2.lower_names(target_columns)) -%}
    {%- set recorded = {} if replaces else recorded -%}
    {%- set mistakes = delta_scd2.columns_in_the_way(copy)
        + delta_scd2.validate_event_time(model, copy.kept_columns | map(attribute='name') | list)
        + delta_scd2.ambiguous_timestamps(copy.target, copy.kept_columns, copy.partitions)
        + delta_scd2.changed_char_lengths(copy.kept_columns, described.bound, recorded, copy.target) -%}
    {%- do delta_scd2.raise_mistakes(mistakes + (delta_scd2.validate_copy_columns(copy, target_columns)
        if not replaces
        else delta_scd2.unstorable_columns(copy.kept_columns)
            + delta_scd2.validate_partitions(copy.kept_columns | map(attribute='name') | list))) -%}
    {%- set char_lengths = delta_scd2.char_lengths_property(described.bound, recorded) -%}
    {%- set copy = dict(
        copy,
        new_properties=dict(char_lengths.items() | reject('in', recorded.items())),
        **delta_scd2._memory(copy, recorded)
    ) -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2._validate_memory(copy)) -%}
    {%- do delta_scd2._check_lost_memory(copy) -%}
    {{- return(copy) -}}
{% endmacro %}


{# Ordinals are written before the rows of the copy: a run of older changes that overlaps with this
   one then leaves them out, and after a failure in between the same batch completes the copy. #}
{% macro _load_copy(copy, replaces) %}
    {%- set name = 'main' if model.language == 'sql' else 'merge' -%}
    {%- set plan = 'create' -%}
    {%- set notes = {} -%}
    {%- if replaces -%}
        {%- do delta_scd2.run_to_its_end(delta_scd2._create_ordinals_sql(copy)) if copy.remembers -%}
        {%- call statement(name) -%}
            {{ delta_scd2._after_ordinals_sql(copy, delta_scd2._create_copy_sql(copy)) }}
        {%- endcall -%}
        {%- set rows = run_query('select count(*) from ' ~ copy.target).columns[0].values()[0] | int -%}
        {%- set effects = {'inserted': rows, 'updated': 0, 'deleted': 0} -%}
    {%- else -%}
        {%- set effects = delta_scd2.checked_effects(copy) -%}
        {%- for statement_sql in delta_scd2.lengthen_statements(copy.target,
            delta_scd2.describe_query('select * from ' ~ copy.target).bound)
            if effects.values() | sum -%}
            {%- do run_query(statement_sql) -%}
        {%- endfor -%}
        {%- set notes = delta_scd2._remember_ordinals(copy, writes_rows=effects.values() | sum > 0)
            if copy.remembers else notes -%}
        {#- An overlapping run may have written older rows before the ordinals were there. -#}
        {%- set effects = delta_scd2.checked_effects(copy)
            if copy.remembers and not effects.values() | sum else effects -%}
        {%- set plan = 'staged' if effects.values() | sum else 'none' -%}
        {%- if plan != 'none' -%}
            {%- call statement(name) -%}
                {{ delta_scd2._after_ordinals_sql(copy, delta_scd2.apply_changelog_sql(copy)) }}
            {%- endcall -%}
        {%- endif -%}
        {%- do delta_scd2.run_to_its_end(delta_scd2.set_properties_sql(copy.target, copy.new_properties))
            if copy.new_properties -%}
    {%- endif -%}
    {%- do delta_scd2.store_load_result(plan, effects, notes=notes) -%}
{% endmacro %}


{# Once the ordinals are written, a run that is stopped still writes the rows that belong to them. #}
{% macro _after_ordinals_sql(copy, sql) %}
    {{- return(delta_scd2.running_to_its_end(sql) if copy.remembers else sql) -}}
{% endmacro %}


{# A table that holds a column by a name of Delta's feed cannot have a feed itself; one of
   earlier days keeps what it has. #}
{% macro _copy_as_stored(copy, target_names) %}
    {%- set settings = delta_scd2.with_stored_names(
        {'stored_as': delta_scd2.stored_names(model.name)}, target_names
    ) -%}
    {%- set kept_columns = [] -%}
    {%- for column in copy.kept_columns -%}
        {%- set name = delta_scd2.stored_name(settings, column.name) -%}
        {%- do kept_columns.append(dict(column, name=name, name_in_model=column.name)
            if column.name | lower in settings.stored_as else column) -%}
    {%- endfor -%}
    {%- set key_names = [] -%}
    {%- for key in copy.key_names -%}
        {%- do key_names.append(delta_scd2.stored_name(settings, key)) -%}
    {%- endfor -%}
    {{- return(delta_scd2.with_kept_columns(
        dict(copy, key_names=key_names, key_columns=delta_scd2.columns_named(key_names)), kept_columns
    )) -}}
{% endmacro %}


{% macro _changes_of_copy_sql(copy, source) -%}
    {%- set renamed = copy.kept_columns | selectattr('name_in_model', 'defined') | list -%}
select *
    {%- if renamed %} except ({{ delta_scd2.backticked_names(renamed | map(attribute='name_in_model')) | join(', ') }})
    {%- endif %}
    {%- for column in renamed -%}
    , {{ delta_scd2.backticked(column.name_in_model) }} as {{ delta_scd2.backticked(column.name) }}
    {%- endfor %} from {{ source }}
{%- endmacro %}


{% macro _create_copy_sql(copy) %}
    {%- set properties = delta_scd2.feature_properties(copy.kept_columns) -%}
    {%- do properties.update({'scd2.ordinals_id': copy.new_mark}) if copy.remembers -%}
    {%- do properties.update(copy.new_properties) -%}
    {%- do properties.update(delta_scd2.sample_properties()) -%}
    {%- do properties.update(config.get('tblproperties') or {}) -%}
create or replace table {{ copy.target }}
    {%- for clause in [
        file_format_clause(), delta_scd2.properties_clause(properties) if properties,
        partition_cols(label='partitioned by'), location_clause(),
        comment_clause(),
    ] if clause and clause | trim %}
{{ clause | trim }}
    {%- endfor %}
as
{{ delta_scd2._first_copy_sql(copy) }}
{% endmacro %}


{% macro _first_copy_sql(copy) -%}
select
    {{ delta_scd2.column_list(copy.kept_columns) }}
from (
    {{ delta_scd2.distinct_changes_sql(copy) | indent(4) }}
)
where
    _change_kind = 'upsert'
{%- endmacro %}
