{% materialization scd2, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = existing_target() -%}
    {%- set replaces = existing is none or was_built_from_sample(existing) or is_full_refresh(existing) -%}

    {{ run_hooks(pre_hooks) }}

    {%- if existing is not none and is_partial_run() -%}
        {#- A part of the rows would pass for a complete extract. -#}
        {%- do store_raw_result('main', message='SKIP a partial run changes no dimension', code='SKIP', rows_affected=0) -%}
    {%- else -%}
        {%- do set_commit_metadata() -%}
        {%- set source = session_view(this, 'source') -%}
        {%- if model.language == 'python' -%}
            {#- dbt runs Python only for a statement that stands in the materialization itself. -#}
            {%- call statement('main', language='python') -%}{{ py_register_view(compiled_code, source) }}{%- endcall -%}
        {%- else -%}
            {%- do check_repeated_columns(compiled_code) -%}
            {%- call statement('source') -%}{{ create_temporary_view(source, compiled_code) }}{%- endcall -%}
        {%- endif -%}
        {%- set dimension = _prepare(source, target_relation, existing, replaces) -%}
        {%- do _load(dimension) -%}
        {%- do run_to_its_end('drop view ' ~ dimension.extract) if dimension.extract != dimension.rows -%}
        {%- do run_to_its_end('drop view ' ~ dimension.given) if dimension.settings.source_kind == 'snapshot' -%}
        {%- do drop_staged() -%}
        {%- do run_to_its_end('drop view ' ~ source) -%}
    {%- endif -%}

    {%- do apply_grants(target_relation, config.get('grants'), should_revoke(existing, full_refresh_mode=replaces)) -%}
    {%- do persist_column_docs(target_relation) -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{# Refuses mistakes in the configuration, and stages the rows of the model. #}
{% macro _prepare(source, target_relation, existing, replaces) %}
    {%- set settings = scd2_config(model) -%}
    {%- set source_columns = columns_of(source) -%}
    {%- set mistakes = validate_config(model, settings, source_columns) + multiple_cdf_sources(model.compiled_code) + wrong_session() -%}
    {%- if not mistakes and existing is not none -%}
        {%- do mistakes.extend(unsupported_target(existing)) -%}
    {%- elif not mistakes -%}
        {%- do check_lost_table(target_relation, config.get('location_root')) -%}
    {%- endif -%}
    {%- set events = event_log_relation(settings, target_relation) -%}
    {%- set dimension = {
        'settings': settings,
        'target': target_relation,
        'exists': not replaces,
        'source': source,
        'bound': bound_columns(source),
        'bound_in_target': {},
        'given': session_view(target_relation, 'given'),
        'rows': staged_table('rows'),
        'glance': none,
        'extract': session_view(target_relation, 'extract'),
        'concerned': staged_table('concerned'),
        'known': staged_table('known'),
        'known_events': staged_table('known_events'),
        'bounds': [],
        'changes': staged_table('changes'),
        'events': events,
        'recorded_events': event_log_properties(events) if not mistakes,
        'events_id': run_suffix(),
        'remembers': false,
        'run_started_at': ts_micros(run_started_at.replace(tzinfo=none).isoformat()),
        'rebuild_from': none if replaces else rebuild_from(settings),
        'repeats': false,
        'applied': [],
        'recorded': {},
        'moments': [],
        'standing': {},
        'missing': [],
        'vanished': [],
        'refilled': [],
        'is_amended': false,
        'knows_state_hash': false,
        'lacks_unknown_member': settings.unknown_member,
        'last_key': 0,
    } -%}
    {%- do mistakes.extend(validate_event_log(events, dimension.recorded_events)) if not mistakes and events is not none -%}
    {%- if not mistakes -%}
        {%- if dimension.exists -%}
            {#- Before all else that is read: the rows of this version, so that no commit after it goes unnoticed. -#}
            {%- set newest = newest_commit(existing) -%}
            {%- do note_invocation_before(newest) -%}
            {%- do dimension.update({'as_read': target_relation ~ ' version as of ' ~ newest['version']}) -%}
            {%- set recorded = read_properties(existing) -%}
            {%- set target_columns = columns_of(existing) -%}
            {%- do keep_stored_names(settings, lower_names(target_columns)) -%}
            {%- do dimension.update({
                'recorded': recorded,
                'applied': applied_extracts(recorded),
                'last_key': recorded.get('scd2.last_key', 0) | int,
                'events_id': recorded.get('scd2.events_id', dimension.events_id),
            }) -%}
        {%- endif -%}
        {%- do dimension.update(resolve_columns(settings, source_columns)) -%}
        {%- do mistakes.extend(columns_in_the_way(dimension)) -%}
        {%- do mistakes.extend(ambiguous_partitions(dimension)) -%}
        {%- do mistakes.extend(unstorable_columns(dimension.kept_columns + columns_named(settings.columns.values() | select))) if replaces -%}
        {%- if dimension.exists -%}
            {%- do dimension.update({'bound_in_target': bound_columns_of_query('select * from ' ~ existing)}) -%}
            {%- do mistakes.extend(changed_immutable_options(dimension, recorded)) -%}
            {%- do mistakes.extend(follow_columns(dimension, target_columns, recorded)) -%}
            {%- do mistakes.extend(unstorable_columns(dimension.missing, existing)) -%}
        {%- endif -%}
        {%- do mistakes.extend(unstorable_types(dimension.kept_columns | reject('in', dimension.vanished) | list)) -%}
    {%- endif -%}
    {%- do raise_mistakes(mistakes) -%}
    {%- do find_event_log(dimension) if dimension.exists and events is not none -%}

    {%- do dimension.update({'standing': target_state(dimension)}) if dimension.exists -%}
    {%- do stage_input(dimension) -%}
    {{- return(dimension) -}}
{% endmacro %}


{# Checks the rows and what they would change, then writes. #}
{% macro _load(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set row_counts = {} if flags.EMPTY else check_rows(dimension) -%}
    {%- if dimension.rows == dimension.given and not stage_changed_rows(dimension, row_counts) -%}
        {%- do drop_staged() -%}
        {%- do dimension.update({'glance': none}) -%}
        {%- do stage_all_rows(dimension) -%}
        {%- set row_counts = check_rows(dimension) -%}
    {%- endif -%}
    {%- set moments = row_counts.keys() | list -%}
    {%- if settings.source_kind == 'snapshot' -%}
        {%- do dimension.update({'moments': pending_extracts(dimension, moments) if dimension.exists else moments}) -%}
    {%- elif moments and dimension.exists and not settings.effective_at -%}
        {%- do check_clock(dimension) -%}
    {%- endif -%}
    {%- if settings.source_kind == 'snapshot' and moments and not accounts_for_all_rows(dimension) -%}
        {%- do check_duplicates(dimension) if run_query(repeats_sql(dimension)).rows[0]['repeated'] -%}
    {%- endif -%}
    {%- if dimension.exists and settings.unknown_member -%}
        {%- do dimension.update({'lacks_unknown_member': not has_rows(
            dimension.as_read ~ ' where not (' ~ is_not_unknown_member_sql(dimension) ~ ')'
        )}) -%}
    {%- endif -%}

    {%- set summary = {'opened': 0, 'closed': 0, 'deleted': 0, 'removed': 0, 'altered': 0} -%}
    {%- set plan = 'none' -%}
    {%- if is_first_extract(dimension) -%}
        {%- do summary.update({'opened': row_counts[moments | first] + (1 if dimension.lacks_unknown_member else 0)}) -%}
        {%- set plan = 'create' -%}
        {%- do _write(dimension, plan, summary) -%}
    {%- elif not dimension.exists or _may_change(dimension, moments, row_counts) -%}
        {%- if settings.source_kind != 'snapshot' -%}
            {%- do stage_stored_of_batch(dimension) if dimension.exists -%}
            {%- do check_conflicts(dimension) if moments -%}
        {%- endif -%}
        {%- do stage(dimension.changes, change_set_sql(dimension)) -%}
        {%- set summary = checked_summary(dimension, row_counts) -%}
        {%- set plan = _plan(dimension, summary) -%}
        {%- do _write(dimension, plan, summary) -%}
        {%- do append_events(dimension) if dimension.events and (not flags.EMPTY or has_rows(dimension.extract)) -%}
    {%- elif dimension.moments -%}
        {%- do run_query(assert_target_unchanged_sql(dimension)) -%}
    {%- endif -%}
    {%- do dimension.applied.extend(dimension.moments) if settings.effective_at -%}
    {%- set to_record = properties_after_load(dimension) -%}
    {%- if not flags.EMPTY and to_record.items() | reject('in', dimension.recorded.items()) | list -%}
        {%- do run_to_its_end(set_properties_sql(dimension, to_record)) -%}
    {%- endif -%}
    {%- do store_load_result(
        plan,
        {'opened': summary['opened'], 'closed': summary['closed'], 'deleted': summary['deleted']},
        {'altered': summary['altered'], 'removed': summary['removed']}
    ) -%}
    {%- do collect_load_metrics(dimension, plan, summary, row_counts, to_record) -%}
{% endmacro %}


{# Whether there is anything that the change set could hold. #}
{% macro _may_change(dimension, moments, row_counts) %}
    {%- if leaves_out_unchanged_keys(dimension) -%}
        {%- do find_changed_keys(dimension) if dimension.glance is none -%}
        {%- do check_row_counts(dimension, row_counts) if accounts_for_all_rows(dimension) -%}
        {{- return(dimension.lacks_unknown_member or dimension.glance['concerned'] > 0) -}}
    {%- endif -%}
    {%- set brings_events = dimension.moments if dimension.settings.source_kind == 'snapshot' else moments -%}
    {{- return(brings_events != [] or dimension.is_amended or dimension.lacks_unknown_member
        or (dimension.settings.inferred_member is not none and has_rows(dimension.extract))) -}}
{% endmacro %}


{# How the change set is written. #}
{% macro _plan(dimension, summary) %}
    {%- if not dimension.exists -%}
        {{- return('create') -}}
    {%- elif summary.values() | sum == 0 -%}
        {{- return('none') -}}
    {%- endif -%}
    {%- set is_three_clause = dimension.settings.merge_plan == 'three_clause' and _is_one_plain_extract(dimension)
        and not _holds_stale_hashes(dimension) -%}
    {{- return('three_clause' if is_three_clause else 'staged') -}}
{% endmacro %}


{% macro _write(dimension, plan, summary) %}
    {%- for statement_sql in alter_statements(dimension) if dimension.exists -%}
        {%- do run_query(statement_sql) -%}
    {%- endfor -%}
    {%- if plan == 'none' -%}
        {#- A MERGE asks that by itself; what changes nothing is not to be noted of a dimension that another run changed. -#}
        {%- do run_query(assert_target_unchanged_sql(dimension)) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- if summary['removed'] and dimension.settings.surrogate_key == 'sequence' -%}
        {#- The number of a version that goes must not be given out again. -#}
        {%- set last_key = run_query(last_key_sql(dimension)).rows[0]['_scd2_last_key'] | string -%}
        {%- do run_query(set_properties_sql(dimension, {'scd2.last_key': last_key})) -%}
    {%- endif -%}
    {%- call statement('main' if model.language == 'sql' else 'merge') -%}
        {%- if plan == 'create' -%}
            {{ create_sql(dimension) }}
        {%- elif plan == 'three_clause' -%}
            {{ merge_three_clause_sql(dimension, dimension.moments | first) }}
        {%- else -%}
            {{ merge_sql(dimension) }}
        {%- endif -%}
    {%- endcall -%}
{% endmacro %}


{# One complete extract that touches current versions alone, and has rows, for these carry the check that nobody wrote. #}
{% macro _is_one_plain_extract(dimension) %}
    {{- return(dimension.moments | length == 1 and changes_current_versions_only(dimension) and not dimension.lacks_unknown_member
        and not dimension.settings.inferred_member and has_rows(dimension.extract)) -}}
{% endmacro %}


{# Whether live versions are to be written for their state hash alone, which three clauses would not do. #}
{% macro _holds_stale_hashes(dimension) %}
    {%- set settings = dimension.settings -%}
    {{- return(settings.columns.state_hash and has_rows(
        dimension.changes ~ " where _scd2_action = 'change' and not _scd2_is_closed and not _scd2_is_deleted and "
            ~ backticked(settings.columns.is_current) ~ ' = ' ~ flag_literal(settings, true)
    )) -}}
{% endmacro %}
