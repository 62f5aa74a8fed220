{% macro migrate_dimension(
    model, from, scd2_columns={}, open_end='9999-12-31', closing_gap=none, flag_values=none,
    hard_deletes=none, extracts=[], merge_equal_versions=false, apply=false, v=none
) %}
    {%- set load = delta_scd2._dimension_to_fill(delta_scd2.dimension_node(model, v)) -%}
    {%- set old = delta_scd2._old_table(load, from, {
        'scd2_columns': scd2_columns, 'open_end': open_end, 'closing_gap': closing_gap, 'flag_values': flag_values,
        'hard_deletes': hard_deletes,
    }, merge_equal_versions) -%}
    {%- do delta_scd2.raise_list(
        old.relation ~ ' cannot become ' ~ load.target,
        delta_scd2.unsafe_session_settings()
            + delta_scd2._validate_old_table(load, old) + delta_scd2._validate_extracts(load, extracts)
    ) -%}

    {%- do run_query(create_temporary_view(old.versions, delta_scd2._old_versions_sql(load, old))) -%}
    {%- set facts = delta_scd2.numbers_of(run_query(delta_scd2._old_facts_sql(load, old)).rows[0]) -%}
    {%- do delta_scd2.raise_refusal(old.relation ~ ' holds no version', 'name the table that does')
        if not facts['versions'] -%}
    {#- First, because misread ends look like deletions. -#}
    {%- do delta_scd2._check_unlikely_gaps(old, facts) -%}
    {%- do delta_scd2.raise_list(
        old.relation ~ ' holds no history that ' ~ load.target ~ ' could continue',
        delta_scd2._validate_versions(load, old)
    ) -%}
    {%- do delta_scd2._print_facts(load, old, facts) -%}

    {%- if apply -%}
        {%- do run_query(create_temporary_view(
            load.hashed_rows, delta_scd2._old_events_sql(load, old)
        )) -%}
        {%- set load = dict(load, newly_consumed=delta_scd2.query_newly_consumed(load)) -%}
        {#- The commit metadata allows `undo_load` to undo the migration. -#}
        {%- do delta_scd2.set_commit_metadata() -%}
        {%- do delta_scd2._fill(load, old, facts) -%}
        {%- do delta_scd2._record_migration(load, facts, extracts) -%}
        {%- do run_query(delta_scd2.reset_commit_metadata_sql()) -%}
        {%- do run_query('drop view ' ~ load.hashed_rows) -%}
        {%- do print('Written to ' ~ load.target ~ ', from where the next `dbt build` goes on.') -%}
    {%- else -%}
        {%- do print('Nothing was written. To write this to ' ~ load.target
            ~ ', add `apply: true`.') -%}
    {%- endif -%}
    {%- do run_query('drop view ' ~ old.versions) -%}
{% endmacro %}


{# The load record of a dimension whose table exists and has no rows. #}
{% macro _dimension_to_fill(node) %}
    {%- set name = delta_scd2.node_address(node) -%}
    {%- set settings = delta_scd2.scd2_config(node) -%}
    {%- set target = load_relation(delta_scd2.table_of(node)) -%}
    {%- set how_to_make = 'make it without rows by `dbt run --empty --select ' ~ name ~ '`' -%}
    {%- if target is none -%}
        {%- do delta_scd2.raise_refusal(
            name ~ ' has no table yet, with whose columns the old one is compared',
            how_to_make
        ) -%}
    {%- endif -%}
    {%- set how_to_remake = 'if it is the old table, rename it; if it can be spared, drop it; '
        ~ 'then ' ~ how_to_make -%}
    {%- set stored = delta_scd2.columns_of(target) -%}
    {%- set settings = delta_scd2.with_stored_names(settings, delta_scd2.lower_names(stored)) -%}
    {%- set named = settings.columns.values() | select | list + settings.unique_key
        + settings.track_columns + settings.overwrite_columns + settings.ignore_columns
        + settings.sequence_by + delta_scd2.as_list(settings.inferred_member) -%}
    {%- set absent = [] -%}
    {%- for column in named
        if delta_scd2.stored_name(settings, column) | lower not in delta_scd2.lower_names(stored) -%}
        {%- do absent.append(delta_scd2.stored_name(settings, column) | lower) -%}
    {%- endfor -%}
    {%- if absent -%}
        {%- do delta_scd2.raise_refusal(
            target ~ ' lacks the column(s) ' ~ absent | join(', ')
                ~ ', which the configuration of ' ~ name ~ ' names',
            how_to_remake
        ) -%}
    {%- endif -%}
    {%- set key = settings.columns.surrogate_key -%}
    {%- set key_type = delta_scd2.types_by_name(stored)[key | lower] if key else none -%}
    {%- if key and not delta_scd2._is_key_type(settings, key_type) -%}
        {%- do delta_scd2.raise_refusal(
            'the surrogate key `' ~ key ~ '` of ' ~ target ~ ' is ' ~ key_type
                ~ ', and `surrogate_key` of ' ~ name ~ ' is `' ~ settings.surrogate_key ~ '`',
            how_to_remake
        ) -%}
    {%- endif -%}
    {%- set load = dict(
        delta_scd2.load_record(name, settings, target),
        stored_columns=stored,
        hashed_rows=delta_scd2.session_view(target, 'old_events'),
        **delta_scd2.resolve_columns(settings, stored, are_stored=true)
    ) -%}
    {%- if delta_scd2.query_any_row(target ~ ' where '
        ~ delta_scd2.is_not_unknown_member_sql(load)) -%}
        {%- do delta_scd2.raise_refusal(
            target ~ ' holds rows already, and a history is migrated before the first load',
            how_to_remake
        ) -%}
    {%- endif -%}
    {{- return(dict(load, detail=delta_scd2.table_detail(target))) -}}
{% endmacro %}


{# Writes the versions in one commit, and restores the table if it then differs from what was
   read. #}
{% macro _fill(load, old, facts) %}
    {%- set before = delta_scd2.newest_version(load.target) -%}
    {%- do run_query(delta_scd2._migrate_sql(load, old)) -%}
    {%- set written = delta_scd2.numbers_of(run_query(delta_scd2._new_facts_sql(load, old)).rows[0]) -%}
    {%- set differences = [] -%}
    {%- for name in written.keys() if written[name] != facts[name] -%}
        {%- do differences.append(name | replace('_', ' ')) -%}
    {%- endfor -%}
    {%- if differences -%}
        {%- do delta_scd2._check_own_commits(load, before, differences) -%}
        {%- do delta_scd2.restore_table(load.target, before) -%}
        {%- do run_query(delta_scd2.reset_commit_metadata_sql()) -%}
        {%- do exceptions.raise_compiler_error(load.target ~ ' did not become what ' ~ old.relation
            ~ ' was when it was checked: ' ~ facts['versions'] ~ ' versions were read and '
            ~ written['versions'] ~ ' written, and they differ in ' ~ differences | join(', ')
            ~ '.\nWhat was written was removed again. Remedy: wait until nothing writes ' ~ old.relation
            ~ ' any more, and run this again.') -%}
    {%- endif -%}
{% endmacro %}


{# Raises an error if others wrote the dimension while its history was written, whose commits a
   restore would undo, too. #}
{% macro _check_own_commits(load, before, differences) %}
    {%- for commit in delta_scd2.newest_commits(load.target, 20) if commit['version'] | int > before | int
        and delta_scd2.invocation_of(commit) != invocation_id and commit['operation'] != 'OPTIMIZE' -%}
        {%- do run_query(delta_scd2.reset_commit_metadata_sql()) -%}
        {%- do exceptions.raise_compiler_error('what was written to ' ~ load.target
            ~ ' differs from what was read in ' ~ differences | join(', ') ~ ', and version '
            ~ commit['version'] ~ ' is by another run.\nNothing was removed. Remedy: `restore table '
            ~ load.target ~ ' to version as of ' ~ before ~ '`, which removes the load of that run, too, '
            ~ 'and run this again while nothing writes either table.') -%}
    {%- endfor -%}
{% endmacro %}


{# Records the properties that a load would record. An extract up to the last change is skipped only
   if it is listed as applied. #}
{% macro _record_migration(load, facts, extracts) %}
    {%- if delta_scd2._tells_extracts_apart(load) -%}
        {%- set applied = [delta_scd2.target_state(load)['high_water_mark']] -%}
        {%- for text in delta_scd2.as_list(extracts) -%}
            {%- do applied.append(delta_scd2.ts_micros(text)) -%}
        {%- endfor -%}
        {%- set load = dict(load, applied_extracts=applied | unique | list) -%}
    {%- endif -%}
    {#- Versions were written, and no events. -#}
    {%- set properties = delta_scd2.properties_after_load(dict(load, plan='staged', may_change=false)) -%}
    {%- if facts['last_key'] is not none and load.settings.has_sequence_keys -%}
        {#- The key of a row that was not kept (merged, or a tombstone) must not be reused. -#}
        {%- do properties.update({'scd2.last_key': facts['last_key'] | string}) -%}
    {%- endif -%}
    {#- The table is no longer one that `--empty` made. -#}
    {%- do run_query('alter table ' ~ load.target ~ " unset tblproperties if exists ('scd2.sample')") -%}
    {%- do run_query(delta_scd2.set_properties_sql(load.target, properties)) -%}
{% endmacro %}


{% macro _tells_extracts_apart(load) %}
    {{- return(load.settings.reads_extracts and load.settings.effective_at is not none) -}}
{% endmacro %}


{% macro _print_facts(load, old, facts) %}
    {%- do print(old.relation ~ ': ' ~ facts['versions'] ~ ' version(s) of ' ~ facts['keys']
        ~ ' key(s), ' ~ facts['open_versions'] ~ ' open; they begin from '
        ~ delta_scd2.utc_text(facts['first_beginning']) ~ ' to '
        ~ delta_scd2.utc_text(facts['last_beginning']) ~ ' UTC') -%}
    {%- do print('merged: ' ~ facts['repeats'] ~ ' version(s) that repeat the one before them')
        if facts['repeats'] -%}
    {%- do print('surrogate keys: '
        ~ ('kept, of `' ~ old.columns.surrogate_key ~ '`' if old.columns.surrogate_key else 'new'))
        if load.settings.columns.surrogate_key -%}
    {%- set used = old.columns.values() | map('lower') | list -%}
    {%- for column in load.kept_columns -%}
        {%- do used.append(delta_scd2._old_name(load, old, column) | lower) -%}
    {%- endfor -%}
    {%- set left = old.stored | map(attribute='name') | map('lower') | reject('in', used) | list -%}
    {%- do print('columns left behind: ' ~ left | join(', ')) if left -%}
{% endmacro %}
