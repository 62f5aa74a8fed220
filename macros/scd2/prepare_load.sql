{# Reads the options, the table and the columns of both, and raises all mistakes. Nothing is staged
   or written yet. #}
{% macro _prepare_load(source, target_relation, existing, replaces) %}
    {%- set settings = scd2_config(model) -%}
    {%- set source_columns = columns_of(source) -%}
    {%- do raise_mistakes(
        validate_config(model, settings, source_columns) + multiple_cdf_sources(model.compiled_code) + wrong_session()
    ) -%}
    {%- do check_lost_table(target_relation, config.get('location_root')) if existing is none
        else raise_mistakes(unsupported_target(existing)) -%}

    {%- set load = _new_load(settings, source, target_relation, replaces) -%}
    {%- do raise_mistakes(validate_event_log(load.event_log, load.event_log_properties)) if load.event_log is not none -%}
    {%- set load = _with_target(load, existing) if load.exists else load -%}
    {%- set load = _with_columns(load, source_columns) -%}
    {%- set load = with_event_log(load) if load.exists and load.event_log is not none else load -%}
    {{- return(dict(load, target_state=target_state(load)) if load.exists else load) -}}
{% endmacro %}


{# The load record before the table is read. #}
{% macro _new_load(settings, source, target_relation, replaces) %}
    {%- set events = event_log_relation(settings, target_relation) -%}
    {{- return({
        'settings': settings,
        'target': target_relation,
        'exists': not replaces,
        'source': source,
        'bound_in_source': bound_columns(source),
        'bound_in_target': {},
        'source_view': session_view(target_relation, 'source_rows'),
        'staged_rows': staged_table('rows'),
        'row_counts': {},
        'changed_key_counts': none,
        'hashed_rows': session_view(target_relation, 'hashed_rows'),
        'changed_keys': staged_table('changed_keys'),
        'stored_of_batch': staged_table('stored'),
        'stored_events_of_batch': staged_table('stored_events'),
        'bounds': [],
        'changes': staged_table('changes'),
        'changes_sql': none,
        'event_log': events,
        'event_log_properties': event_log_properties(events),
        'event_log_id': run_suffix(),
        'has_event_log': false,
        'run_started_at': ts_micros(run_started_at.replace(tzinfo=none).isoformat()),
        'rebuild_from': none if replaces else rebuild_from(settings),
        'is_recovery': false,
        'applied_extracts': [],
        'properties': {},
        'pending_extracts': [],
        'target_state': {},
        'added_columns': [],
        'dropped_columns': [],
        'overwritten_new_columns': [],
        'schema_changed': false,
        'has_state_hash': false,
        'lacks_unknown_member': settings.unknown_member,
        'last_key': 0,
        'may_change': true,
        'plan': 'none',
        'summary': {'opened': 0, 'closed': 0, 'deleted': 0, 'removed': 0, 'altered': 0},
    }) -}}
{% endmacro %}


{# Adds what the table and its properties contain, as of one version, so that every later commit is
   detected. #}
{% macro _with_target(load, existing) %}
    {%- set newest = newest_commit(existing) -%}
    {%- do note_invocation_before(newest) -%}
    {%- set recorded = read_properties(existing) -%}
    {%- set stored_columns = columns_of(existing) -%}
    {{- return(dict(
        load,
        settings=with_stored_names(load.settings, lower_names(stored_columns)),
        target_as_read=load.target ~ ' version as of ' ~ newest['version'],
        properties=recorded,
        applied_extracts=applied_extracts(recorded),
        last_key=recorded.get('scd2.last_key', 0) | int,
        event_log_id=recorded.get('scd2.events_id', load.event_log_id),
        stored_columns=stored_columns,
        bound_in_target=bound_columns_of_query('select * from ' ~ existing),
    )) -}}
{% endmacro %}


{# Adds the columns by role, and how they differ from those of the table. #}
{% macro _with_columns(load, source_columns) %}
    {%- set load = dict(load, **resolve_columns(load.settings, source_columns)) -%}
    {%- set mistakes = columns_in_the_way(load) + ambiguous_partitions(load) -%}
    {%- if load.exists -%}
        {%- set evolution = follow_columns(load) -%}
        {%- set load = dict(load, **evolution.columns) -%}
        {%- do mistakes.extend(
            changed_immutable_options(load) + evolution.mistakes + unstorable_columns(load.added_columns, load.target)
        ) -%}
    {%- else -%}
        {%- do mistakes.extend(
            unstorable_columns(load.kept_columns + columns_named(load.settings.columns.values() | select))
        ) -%}
    {%- endif -%}
    {%- do raise_mistakes(mistakes + unstorable_types(load.kept_columns | reject('in', load.dropped_columns) | list)) -%}
    {{- return(load) -}}
{% endmacro %}
