{% materialization scd2, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = _existing_target() -%}
    {%- set replaces = existing is none or _gives_way(existing) or _rebuild_is_asked_for(existing) -%}

    {{ run_hooks(pre_hooks) }}

    {%- if existing is not none and _is_part() -%}
        {#- A part of the rows would pass for a complete extract. -#}
        {%- do store_raw_result('main', message='SKIP a partial run changes no dimension', code='SKIP', rows_affected=0) -%}
    {%- else -%}
        {%- do _sign_commits() -%}
        {%- set source = _session_view(this, 'source') -%}
        {%- if model.language == 'python' -%}
            {#- dbt runs Python only for a statement that stands in the materialization itself. -#}
            {%- call statement('main', language='python') -%}{{ _py_register_view(compiled_code, source) }}{%- endcall -%}
        {%- else -%}
            {%- do _refuse_repeated_columns(compiled_code) -%}
            {%- call statement('source') -%}{{ create_temporary_view(source, compiled_code) }}{%- endcall -%}
        {%- endif -%}
        {%- set dimension = _prepare(source, target_relation, existing, replaces) -%}
        {%- do _load(dimension) -%}
        {%- do _run_to_its_end('drop view ' ~ dimension.extract) if dimension.extract != dimension.rows -%}
        {%- do _run_to_its_end('drop view ' ~ dimension.given) if dimension.settings.source_kind == 'snapshot' -%}
        {%- do _drop_staged() -%}
        {%- do _run_to_its_end('drop view ' ~ source) -%}
    {%- endif -%}

    {%- do apply_grants(target_relation, config.get('grants'), should_revoke(existing, full_refresh_mode=replaces)) -%}
    {%- do _persist_column_docs(target_relation) -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{# History is not thrown away by a habit: --full-refresh needs a second word. #}
{% macro _rebuild_is_asked_for(existing) %}
    {%- if not flags.FULL_REFRESH or config.get('full_refresh') == false -%}
        {{- return(false) -}}
    {%- elif not config.get('full_refresh') and not var('scd2_discard_history', false) -%}
        {%- do _refuse(
            '--full-refresh would throw away the history in ' ~ existing,
            "leave the flag out; to rebuild all the same, configure `full_refresh: true` or add "
                ~ "--vars '{scd2_discard_history: true}'"
        ) -%}
    {%- endif -%}
    {{- return(true) -}}
{% endmacro %}


{# Whether `--empty` or `--sample` leaves rows out. #}
{% macro _is_part() %}
    {{- return(flags.EMPTY or invocation_args_dict.get('sample')) -}}
{% endmacro %}


{# Whether `--sample` made the table, of a part of the rows, with no history that a whole run could follow. #}
{% macro _gives_way(existing) %}
    {{- return(not _is_part() and _recorded(existing).get('scd2.sample') == 'true') -}}
{% endmacro %}


{# Refuses mistakes in the configuration, and stages the rows of the model. #}
{% macro _prepare(source, target_relation, existing, replaces) %}
    {%- set settings = scd2_settings(model) -%}
    {%- set source_columns = _columns_of(source) -%}
    {%- set mistakes = scd2_mistakes(model, settings, source_columns) + _several_feeds(model.compiled_code) + _wrong_session() -%}
    {%- if not mistakes and existing is not none -%}
        {%- do mistakes.extend(_wrong_target(existing)) -%}
    {%- elif not mistakes -%}
        {%- do _refuse_lost_table(target_relation, config.get('location_root')) -%}
    {%- endif -%}
    {%- set events = _events_relation(settings, target_relation) -%}
    {%- set dimension = {
        'settings': settings,
        'target': target_relation,
        'exists': not replaces,
        'source': source,
        'bound': _bound_columns(source),
        'bound_in_target': {},
        'given': _session_view(target_relation, 'given'),
        'rows': _staged('rows'),
        'glance': none,
        'extract': _session_view(target_relation, 'extract'),
        'concerned': _staged('concerned'),
        'known': _staged('known'),
        'known_events': _staged('known_events'),
        'bounds': [],
        'changes': _staged('changes'),
        'events': events,
        'recorded_events': _recorded_events(events) if not mistakes,
        'events_id': _this_run(),
        'remembers': false,
        'run_started_at': _micros(run_started_at.replace(tzinfo=none).isoformat()),
        'rebuild_from': none if replaces else _rebuild_from(settings),
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
    {%- do mistakes.extend(_wrong_events(events, dimension.recorded_events)) if not mistakes and events is not none -%}
    {%- if not mistakes -%}
        {%- if dimension.exists -%}
            {#- Before all else that is read: the rows of this version, so that no commit after it goes unnoticed. -#}
            {%- set newest = _newest_commit(existing) -%}
            {%- do _note_before(newest) -%}
            {%- do dimension.update({'as_read': target_relation ~ ' version as of ' ~ newest['version']}) -%}
            {%- set recorded = _recorded(existing) -%}
            {%- set target_columns = _columns_of(existing) -%}
            {%- do _keep_stored_names(settings, _names(target_columns)) -%}
            {%- do dimension.update({
                'recorded': recorded,
                'applied': _applied_extracts(recorded),
                'last_key': recorded.get('scd2.last_key', 0) | int,
                'events_id': recorded.get('scd2.events_id', dimension.events_id),
            }) -%}
        {%- endif -%}
        {%- do dimension.update(scd2_columns(settings, source_columns)) -%}
        {%- do mistakes.extend(_columns_in_the_way(dimension)) -%}
        {%- do mistakes.extend(_ambiguous_partitions(dimension)) -%}
        {%- do mistakes.extend(_unstorable_columns(dimension.kept_columns + _named(settings.columns.values() | select))) if replaces -%}
        {%- if dimension.exists -%}
            {%- do dimension.update({'bound_in_target': _bound_columns_of('select * from ' ~ existing)}) -%}
            {%- do mistakes.extend(_changed_options(dimension, recorded)) -%}
            {%- do mistakes.extend(_follow_columns(dimension, target_columns, recorded)) -%}
            {%- do mistakes.extend(_unstorable_columns(dimension.missing, existing)) -%}
        {%- endif -%}
        {%- do mistakes.extend(_unstorable_types(dimension.kept_columns | reject('in', dimension.vanished) | list)) -%}
    {%- endif -%}
    {%- do _refuse_mistakes(mistakes) -%}
    {%- do _recall_events(dimension) if dimension.exists and events is not none -%}

    {%- do dimension.update({'standing': _standing(dimension)}) if dimension.exists -%}
    {%- do _stage_rows(dimension) -%}
    {{- return(dimension) -}}
{% endmacro %}


{# Checks the rows and what they would change, then writes. #}
{% macro _load(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set row_counts = {} if flags.EMPTY else _checked_moments(dimension) -%}
    {%- if dimension.rows == dimension.given and not _are_fetched(dimension, row_counts) -%}
        {%- do _drop_staged() -%}
        {%- do dimension.update({'glance': none}) -%}
        {%- do _stage_all(dimension) -%}
        {%- set row_counts = _checked_moments(dimension) -%}
    {%- endif -%}
    {%- set moments = row_counts.keys() | list -%}
    {%- if settings.source_kind == 'snapshot' -%}
        {%- do dimension.update({'moments': _fresh_extracts(dimension, moments) if dimension.exists else moments}) -%}
    {%- elif moments and dimension.exists and not settings.effective_at -%}
        {%- do _refuse_clock_behind(dimension) -%}
    {%- endif -%}
    {%- if settings.source_kind == 'snapshot' and moments and not _accounts_for_all_rows(dimension) -%}
        {%- do _refuse_duplicates(dimension) if run_query(_repeats_sql(dimension)).rows[0]['repeated'] -%}
    {%- endif -%}
    {%- if dimension.exists and settings.unknown_member -%}
        {%- do dimension.update({'lacks_unknown_member': not _holds_rows(
            dimension.as_read ~ ' where not (' ~ _is_known_sql(dimension) ~ ')'
        )}) -%}
    {%- endif -%}

    {%- set summary = {'opened': 0, 'closed': 0, 'deleted': 0, 'removed': 0, 'altered': 0} -%}
    {%- set plan = 'none' -%}
    {%- if _is_first_extract(dimension) -%}
        {%- do summary.update({'opened': row_counts[moments | first] + (1 if dimension.lacks_unknown_member else 0)}) -%}
        {%- set plan = 'create' -%}
        {%- do _write(dimension, plan, summary) -%}
    {%- elif not dimension.exists or _may_change(dimension, moments, row_counts) -%}
        {%- if settings.source_kind != 'snapshot' -%}
            {%- do _stage_known(dimension) if dimension.exists -%}
            {%- do _refuse_conflicts(dimension) if moments -%}
        {%- endif -%}
        {%- do _stage(dimension.changes, scd2_changes_sql(dimension)) -%}
        {%- set summary = _checked_summary(dimension, row_counts) -%}
        {%- set plan = _plan(dimension, summary) -%}
        {%- do _write(dimension, plan, summary) -%}
        {%- do _remember(dimension) if dimension.events and (not flags.EMPTY or _holds_rows(dimension.extract)) -%}
    {%- elif dimension.moments -%}
        {%- do run_query(_stands_sql(dimension)) -%}
    {%- endif -%}
    {%- do dimension.applied.extend(dimension.moments) if settings.effective_at -%}
    {%- set to_record = _to_record(dimension) -%}
    {%- if not flags.EMPTY and to_record.items() | reject('in', dimension.recorded.items()) | list -%}
        {%- do _run_to_its_end(_set_properties_sql(dimension, to_record)) -%}
    {%- endif -%}
    {%- do _report_load(
        plan,
        {'opened': summary['opened'], 'closed': summary['closed'], 'deleted': summary['deleted']},
        {'altered': summary['altered'], 'removed': summary['removed']}
    ) -%}
    {%- do _note_load(dimension, plan, summary, row_counts, to_record) -%}
{% endmacro %}


{# One evaluation of the model for all that follows: what was checked is what is written. Of a complete extract few rows need
   more than their short hashes, of other rows all, and often. #}
{% macro _stage_rows(dimension) %}
    {%- do _drop_leftovers() -%}
    {%- if dimension.settings.source_kind == 'snapshot' -%}
        {%- do run_query(create_temporary_view(dimension.given, scd2_rows_sql(dimension))) -%}
        {%- if _is_worth_a_look(dimension) -%}
            {%- do _read(dimension, dimension.given) -%}
        {%- else -%}
            {%- do _stage_all(dimension) -%}
        {%- endif -%}
    {%- else -%}
        {%- set rows = '(\n    ' ~ scd2_rows_sql(dimension) | indent(4) ~ ')' -%}
        {%- do _stage(dimension.rows, scd2_extract_sql(dimension, rows)) -%}
        {%- do dimension.update({'extract': dimension.rows}) -%}
    {%- endif -%}
{% endmacro %}


{% macro _stage_all(dimension) %}
    {%- do _stage(_staged('rows'), 'select *\nfrom ' ~ dimension.given) -%}
    {%- do _read(dimension, _staged('rows')) -%}
{% endmacro %}


{# Takes the rows of complete extracts from here on from a relation. #}
{% macro _read(dimension, relation) %}
    {%- do dimension.update({'rows': relation}) -%}
    {%- do run_query(create_temporary_view(dimension.extract, scd2_extract_sql(dimension, relation))) -%}
{% endmacro %}


{# What rows of single keys are checked against, and laid out with: read once from tables that may be much larger. #}
{% macro _stage_known(dimension) %}
    {#- A changed column may change any key. -#}
    {%- do dimension.update({'bounds': _key_bounds(dimension)}) if not dimension.is_amended -%}
    {%- do _stage(dimension.known, scd2_known_sql(dimension, dimension.as_read)) -%}
    {%- do _stage(dimension.known_events, scd2_known_sql(dimension, dimension.events)) if dimension.remembers -%}
{% endmacro %}


{% macro _standing(dimension) %}
    {%- set standing = {} -%}
    {%- for name, value in run_query(_standing_sql(dimension)).rows[0].dict().items() -%}
        {%- do standing.update({name: value if name == 'fingerprint' or value is none else value | int}) -%}
    {%- endfor -%}
    {{- return(standing) -}}
{% endmacro %}


{# Whether there is anything that the change set could hold. #}
{% macro _may_change(dimension, moments, row_counts) %}
    {%- if _leaves_out_unchanged_keys(dimension) -%}
        {%- do _look(dimension) if dimension.glance is none -%}
        {%- do _refuse_uneven(dimension, row_counts) if _accounts_for_all_rows(dimension) -%}
        {{- return(dimension.lacks_unknown_member or dimension.glance['concerned'] > 0) -}}
    {%- endif -%}
    {%- set brings_events = dimension.moments if dimension.settings.source_kind == 'snapshot' else moments -%}
    {{- return(brings_events != [] or dimension.is_amended or dimension.lacks_unknown_member
        or (dimension.settings.inferred_member is not none and _holds_rows(dimension.extract))) -}}
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
    {%- for statement_sql in _alter_statements(dimension) if dimension.exists -%}
        {%- do run_query(statement_sql) -%}
    {%- endfor -%}
    {%- if plan == 'none' -%}
        {#- A MERGE asks that by itself; what changes nothing is not to be noted of a dimension that another run changed. -#}
        {%- do run_query(_stands_sql(dimension)) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- if summary['removed'] and dimension.settings.surrogate_key == 'sequence' -%}
        {#- The number of a version that goes must not be given out again. -#}
        {%- set last_key = run_query(_last_key_sql(dimension)).rows[0]['_scd2_last_key'] | string -%}
        {%- do run_query(_set_properties_sql(dimension, {'scd2.last_key': last_key})) -%}
    {%- endif -%}
    {%- call statement('main' if model.language == 'sql' else 'merge') -%}
        {%- if plan == 'create' -%}
            {{ scd2_create_sql(dimension) }}
        {%- elif plan == 'three_clause' -%}
            {{ scd2_merge_sql(dimension, dimension.moments | first) }}
        {%- else -%}
            {{ scd2_apply_sql(dimension) }}
        {%- endif -%}
    {%- endcall -%}
{% endmacro %}


{# One complete extract that touches current versions alone, and has rows, for these carry the check that nobody wrote. #}
{% macro _is_one_plain_extract(dimension) %}
    {{- return(dimension.moments | length == 1 and _touches_current_only(dimension) and not dimension.lacks_unknown_member
        and not dimension.settings.inferred_member and _holds_rows(dimension.extract)) -}}
{% endmacro %}


{# Whether live versions are to be written for their state hash alone, which three clauses would not do. #}
{% macro _holds_stale_hashes(dimension) %}
    {%- set settings = dimension.settings -%}
    {{- return(settings.columns.state_hash and _holds_rows(
        dimension.changes ~ " where _scd2_action = 'change' and not _scd2_is_closed and not _scd2_is_deleted and "
            ~ _backticked(settings.columns.is_current) ~ ' = ' ~ _flag_literal(settings, true)
    )) -}}
{% endmacro %}


{# The person's model and the few lines that hand its rows to SQL. #}
{% macro _py_register_view(compiled_code, view) %}
{{ compiled_code }}

import dbt_spark_session

dbt_spark_session.to_spark_dataframe(
    model(dbtObj({{ py_load_function() }}), spark), spark
).createOrReplaceTempView({{ view | tojson }})
{% endmacro %}
