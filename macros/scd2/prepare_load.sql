{# Reads the options, the table and the columns of both, and raises all mistakes. Nothing is staged
   or written yet. #}
{% macro _prepare_load(source, target_relation, existing, replaces, recorded) %}
    {%- set settings = delta_scd2.scd2_config(model) -%}
    {%- set described = delta_scd2.describe_view(source) -%}
    {%- set source_columns = described.columns -%}
    {%- do delta_scd2.raise_mistakes(
        delta_scd2.validate_config(model, settings, source_columns)
            + delta_scd2.multiple_cdf_sources(model.compiled_code) + delta_scd2.validate_session()
    ) -%}
    {%- do delta_scd2.check_target(target_relation, existing) -%}

    {%- set load = delta_scd2._new_load(settings, source, described.bound, target_relation, replaces) -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2.validate_event_log(load.event_log, load.event_log_properties))
        if load.event_log is not none -%}
    {%- set load = delta_scd2._with_target(load, existing, recorded) if load.exists else load -%}
    {%- set load = delta_scd2._with_columns(load, source_columns) -%}
    {%- set load = delta_scd2.with_event_log(load) if load.exists and load.event_log is not none else load -%}
    {{- return(load) -}}
{% endmacro %}


{# Adds what is known before the table is read: where the rows come from and go. #}
{% macro _new_load(settings, source, bound_in_source, target_relation, replaces) %}
    {%- set events = delta_scd2.event_log_relation(settings, target_relation) -%}
    {{- return(dict(
        delta_scd2.load_record(model.name, settings, target_relation),
        exists=not replaces,
        source=source,
        bound_in_source=bound_in_source,
        detail={'partitions': delta_scd2.partition_names(config.get('partition_by'))},
        staged_rows=delta_scd2.staged_table('rows'),
        hashed_rows=delta_scd2.session_view(target_relation, 'hashed_rows'),
        changed_keys=delta_scd2.staged_table('changed_keys'),
        stored_of_batch=delta_scd2.staged_table('stored'),
        stored_events_of_batch=delta_scd2.staged_table('stored_events'),
        changes=delta_scd2.staged_table('changes'),
        event_log=events,
        event_log_properties=delta_scd2.event_log_properties(events),
        event_log_id=delta_scd2.run_suffix(),
        run_started_at=delta_scd2.ts_micros(run_started_at.replace(tzinfo=none).isoformat()),
        rebuild_from=none if replaces else delta_scd2.rebuild_from(settings),
        lacks_unknown_member=settings.unknown_member,
    )) -}}
{% endmacro %}


{# Adds the columns of the table and what its properties contain. #}
{% macro _with_target(load, existing, recorded) %}
    {%- set described = delta_scd2.describe_query('select * from ' ~ existing) -%}
    {{- return(dict(
        delta_scd2._with_properties(load, recorded),
        settings=delta_scd2.with_stored_names(load.settings, delta_scd2.lower_names(described.columns)),
        event_log_id=recorded.get('scd2.events_id', load.event_log_id),
        stored_columns=described.columns,
        detail=delta_scd2.table_detail(existing),
        bound_in_target=described.bound,
    )) -}}
{% endmacro %}


{# Adds what the properties of the table tell of earlier loads. #}
{% macro _with_properties(load, recorded) %}
    {{- return(dict(
        load,
        properties=recorded,
        applied_extracts=delta_scd2.applied_extracts(recorded),
    )) -}}
{% endmacro %}


{% macro _ambiguous_partitions(load) %}
    {%- set columns = load.kept_columns | list -%}
    {%- for role in ['effective_from', 'effective_to'] -%}
        {%- do columns.append({'name': load.settings.columns[role], 'data_type': 'timestamp'}) -%}
    {%- endfor -%}
    {{- return(delta_scd2.ambiguous_timestamps(load.target, columns, load.detail.partitions)) -}}
{% endmacro %}


{# Adds the columns by role, and how they differ from those of the table. #}
{% macro _with_columns(load, source_columns) %}
    {%- set load = dict(load, **delta_scd2.resolve_columns(load.settings, source_columns)) -%}
    {%- set mistakes = delta_scd2.columns_in_the_way(load) + delta_scd2._ambiguous_partitions(load) -%}
    {%- if load.exists -%}
        {%- set evolution = delta_scd2.follow_columns(load) -%}
        {%- set load = dict(load, **evolution.columns) -%}
        {%- set compared = load.key_columns + load.tracked_columns + load.overwrite_columns
            + load.sequence_columns -%}
        {%- do mistakes.extend(delta_scd2.changed_immutable_options(load) + evolution.mistakes
            + delta_scd2.changed_char_lengths(
                compared, load.bound_in_source, load.properties, load.target
            ) + delta_scd2.unstorable_columns(load.missing_columns, load.target)) -%}
    {%- else -%}
        {%- set added = delta_scd2.columns_named(load.settings.columns.values() | select) -%}
        {%- do mistakes.extend(delta_scd2.unstorable_columns(load.kept_columns + added)
            + delta_scd2.validate_partitions(load.columns)) -%}
    {%- endif -%}
    {%- do delta_scd2.raise_mistakes(mistakes
        + delta_scd2.unstorable_types(delta_scd2.columns_of_model(load))) -%}
    {{- return(load) -}}
{% endmacro %}
