{# Reads the model and the table. One extract or batch is compared with a small dimension at once;
   every other load stages the rows of the model first, and reads one version of the table, so that
   every later commit is detected. #}
{% macro _read_input(load) %}
    {%- if delta_scd2._may_be_compared(load) -%}
        {%- if delta_scd2.is_small(load.detail.size) -%}
            {{- return(delta_scd2._compare(load)) -}}
        {%- endif -%}
        {%- set load = dict(load, gains_deletion_vectors=delta_scd2.may_gain_deletion_vectors(load.detail)) -%}
    {%- endif -%}
    {{- return(delta_scd2.stage_input(delta_scd2._with_version(load) if load.exists else load)) -}}
{% endmacro %}


{# Adds the version of the table that is read, with its properties and its state. #}
{% macro _with_version(load) %}
    {%- set commits = delta_scd2.newest_commits(load.target, 8) -%}
    {%- do delta_scd2.note_invocation_before(commits) -%}
    {%- set merge = delta_scd2.unrecorded_merge(commits) -%}
    {%- set load = dict(
        delta_scd2._with_properties(load, delta_scd2.read_properties(load.target)),
        target_as_read=load.target ~ ' version as of ' ~ commits[0]['version'],
        has_unrecorded_merge=merge is not none,
        **delta_scd2.without_columns_of_unrecorded_load(load, merge)
    ) -%}
    {{- return(dict(load, target_state=delta_scd2.target_state(load))) -}}
{% endmacro %}


{# Whether the load can be one comparison. A rebuild, other columns than before, or hashes that the
   last load did not keep concern more than the current versions. #}
{% macro _may_be_compared(load) %}
    {%- set settings = load.settings -%}
    {{- return(load.exists and delta_scd2.compares_at_once(settings)
        and not load.rebuild_from and not load.schema_changed
        and not load.missing_columns and not load.bound_in_target
        and (load.has_usable_events or not settings.keeps_events)
        and (load.has_state_hash or not settings.columns.state_hash)) -}}
{% endmacro %}


{# Compares the rows of the model with the current versions, and plans the load by what that counts.
   If it counts anything out of the ordinary, the rows go through all steps of a load. Events are
   only ever added, so that their number from before they are read reveals each that came later. #}
{% macro _compare(load) %}
    {%- do delta_scd2.drop_leftovers() -%}
    {%- set event_count = delta_scd2.event_count(load) if load.has_usable_events else 0 -%}
    {%- set table = delta_scd2.staged_table('compared') -%}
    {%- set compared = dict(load, target_as_read=load.target, changes=table) -%}
    {%- set compared = dict(compared, changes_sql=delta_scd2.comparison_sql(compared)) -%}
    {%- do delta_scd2.show_statements(compared) -%}
    {%- do delta_scd2.stage_table(table, compared.changes_sql) -%}
    {%- set counts = delta_scd2.comparison_counts(compared) -%}
    {%- set is_plain = delta_scd2._is_plain_extract(load, counts) if load.settings.reads_extracts
        else delta_scd2._is_plain_batch(load, counts)
            and not (counts['new'] and delta_scd2.query_any_row(delta_scd2.past_of_new_keys_sql(compared))) -%}
    {%- if is_plain -%}
        {{- return(delta_scd2._with_comparison(compared, dict(counts, events=event_count))) -}}
    {%- endif -%}
    {%- set load = delta_scd2._with_version(load) -%}
    {%- if load.settings.reads_extracts and counts['repeated']
        and run_query(delta_scd2.key_twice_sql(
            load, load.target_as_read ~ '\nwhere ' ~ delta_scd2.is_current_sql(load.settings)
        )).rows -%}
        {#- Two current versions of a key, as no load leaves them, repeat the row that they were compared with. -#}
        {%- do delta_scd2.drop_staged() -%}
        {{- return(delta_scd2.stage_all_rows(load)) -}}
    {%- endif -%}
    {{- return(delta_scd2.read_rows_from(load, delta_scd2.compared_rows(load, table))) -}}
{% endmacro %}


{# Whether the rows are one extract that passes every check: later than all that was applied, or the
   last one again, without a difference. #}
{% macro _is_plain_extract(load, counts) %}
    {%- set settings = load.settings -%}
    {%- set extract_time, boundary = counts['first_time'], counts['high_water_mark'] -%}
    {%- set last = load.applied_extracts | max if load.applied_extracts else 0 -%}
    {%- set is_next = extract_time > [last, boundary] | max -%}
    {%- set is_last_again = extract_time == last and not counts['opened'] + counts['deleted'] -%}
    {{- return(delta_scd2._has_sound_rows(load, counts)
        and counts['row_count'] >= [settings.min_rows, 1] | max
        and counts['last_time'] == extract_time
        and (is_next or is_last_again)
        and not (settings.effective_at and boundary > last)
        and not delta_scd2.deletes_too_many(load, counts['deleted'], counts['live'])
        and extract_time - delta_scd2.gap_micros(settings) > counts['last_ending']) -}}
{% endmacro %}


{# Whether the rows of a batch pass every check: each later than all that is known of its key. #}
{% macro _is_plain_batch(load, counts) %}
    {{- return(delta_scd2._has_sound_rows(load, counts)
        and counts['late_rows'] == 0
        and counts['first_time'] >= delta_scd2.ts_micros('0001-01-01')
        and (load.settings.effective_at or not counts['row_count']
            or counts['first_time'] > counts['high_water_mark'])) -}}
{% endmacro %}


{# Whether the counts show neither a row nor a version that a load would refuse or repair. #}
{% macro _has_sound_rows(load, counts) %}
    {%- set last_time = load.settings.open_end or '9999-12-31 23:59:59.999999' -%}
    {{- return(counts['wrong_rows'] + counts['repeated'] + counts['same_hash'] == 0
        and counts['last_time'] < delta_scd2.ts_micros(last_time | string)
        and (counts['unknown_members'] == 1 or not load.settings.unknown_member)) -}}
{% endmacro %}


{# The load as its comparison plans it. #}
{% macro _with_comparison(load, counts) %}
    {%- set reads_extracts = load.settings.reads_extracts -%}
    {%- set row_counts = delta_scd2.counts_between(counts) if counts['row_count'] else {} -%}
    {%- set changes = counts['opened'] + counts['deleted'] > 0 -%}
    {{- return(dict(
        load,
        is_compared=true,
        staged_rows=load.changes,
        hashed_rows=load.changes,
        row_counts=row_counts,
        pending_extracts=row_counts.keys() | reject('in', load.applied_extracts) | list
            if reads_extracts else [],
        target_state={'fingerprint': counts['fingerprint'], 'events': counts['events']},
        lacks_unknown_member=false,
        may_change=changes if reads_extracts else counts['row_count'] > 0,
        plan='compared' if changes else 'none',
        summary=dict(
            load.summary,
            opened=counts['opened'],
            closed=counts['changed'],
            deleted=counts['deleted'],
            altered=counts['returned'],
        ),
    )) -}}
{% endmacro %}
