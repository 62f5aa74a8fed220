{# The table properties after this load. #}
{% macro properties_after_load(load) %}
    {%- set properties = delta_scd2.immutable_options(load) -%}
    {%- set columns = delta_scd2.lower_names(delta_scd2.columns_of_model(load)) -%}
    {%- set track_columns = delta_scd2.lower_names(load.tracked_columns) -%}
    {%- do properties.update({
        'scd2.columns': delta_scd2.redaction_safe_json(columns),
        'scd2.track_columns': delta_scd2.redaction_safe_json(track_columns),
    }) -%}
    {%- do properties.update(delta_scd2.no_filled_columns_property(load)) -%}
    {%- do properties.update(delta_scd2.char_lengths_property(load.bound_in_source, load.properties)) -%}
    {#- A load that writes nothing leaves the hashes as they are. -#}
    {%- set state_hash = load.settings.columns.state_hash if load.has_state_hash or load.plan != 'none' -%}
    {%- do properties.update({'scd2.state_hash': delta_scd2.redaction_safe_json((state_hash or '') | lower)})
        if state_hash or delta_scd2.recorded_state_hash(load.properties) -%}
    {%- set former = delta_scd2.former_state_hashes(load) -%}
    {%- do properties.update({'scd2.former_state_hashes': delta_scd2.redaction_safe_json(former)})
        if former or 'scd2.former_state_hashes' in load.properties -%}
    {%- do properties.update(delta_scd2.meaning_of_events_properties(load))
        if load.settings.keeps_events and (load.has_usable_events or load.may_change) -%}
    {%- do properties.update(delta_scd2.made_for_property(load)) if load.settings.keeps_events -%}
    {%- do properties.update(load.newly_consumed) -%}
    {%- set applied_extracts = load.applied_extracts
        + (load.pending_extracts if load.settings.effective_at else []) -%}
    {%- if applied_extracts -%}
        {%- set texts = [] -%}
        {%- for extract_time in applied_extracts | sort -%}
            {%- do texts.append(delta_scd2.utc_text(extract_time)) -%}
        {%- endfor -%}
        {%- do properties.update({'scd2.extracts': texts | join(',')}) -%}
    {%- endif -%}
    {#- A load that changes no version commits nothing for it, either. -#}
    {%- do properties.update({delta_scd2.deletion_vectors_property(): 'true'})
        if load.gains_deletion_vectors and load.plan != 'none' -%}
    {{- return(properties) -}}
{% endmacro %}


{# Whether the statement that creates the dimension sets its properties, too. Those of a changelog
   tell how far it was read, and must not do so before its events are written. #}
{% macro is_recorded_at_once(load) %}
    {{- return(load.plan == 'create' and load.event_log is none) -}}
{% endmacro %}


{# The properties that tell up to which version a change data feed was read. If only commits without
   changes were read, such as OPTIMIZE, they change once a day: often enough for the source's log
   retention, and rarely enough to keep the dimension's log small. #}
{% macro query_newly_consumed(load) %}
    {%- if not load.settings.follows_feed -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set version_column = delta_scd2.backticked(delta_scd2.stored_name(
        load.settings, '_commit_version'
    )) -%}
    {%- set rows = run_query('select max(' ~ version_column
        ~ ') as version, unix_micros(current_timestamp()) as now from '
        ~ load.hashed_rows).rows[0] -%}
    {#- A migration has no compiled model. -#}
    {%- set end = delta_scd2.cdf_end(model.compiled_code | default('')) -%}
    {%- set version = rows['version'] if end is none else end.version -%}
    {%- set now = rows['now'] | int -%}
    {%- set before = load.properties.get('scd2.consumed_at') -%}
    {%- set is_recent = before and now - delta_scd2.ts_micros(before) < 24 * 60 * 60 * 1000000 -%}
    {%- if version is none or (rows['version'] is none and is_recent) -%}
        {{- return({}) -}}
    {%- endif -%}
    {{- return({
        'scd2.consumed_version': version | string,
        'scd2.consumed_at': delta_scd2.utc_text(now),
        'scd2.consumed_commit': end.committed_at if end is not none else '',
    }) -}}
{% endmacro %}
