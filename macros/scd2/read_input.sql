{# Reads the model and the table. One complete extract is compared with a small dimension at once;
   every other load stages the rows of the model first, and reads one version of the table, so that
   every later commit is detected. #}
{% macro _read_input(load) %}
    {%- if delta_scd2._may_be_compared(load) -%}
        {%- set detail = delta_scd2.table_detail(load.target) -%}
        {%- set load = dict(load, gains_deletion_vectors=delta_scd2.outgrows_rewriting(detail)) -%}
        {%- if detail.size < 64 * var('scd2_read_twice_from', 1000000) | int(1000000) -%}
            {{- return(delta_scd2._compare(load)) -}}
        {%- endif -%}
    {%- endif -%}
    {{- return(delta_scd2.stage_input(delta_scd2._with_version(load) if load.exists else load)) -}}
{% endmacro %}


{# Adds the version of the table that is read, with its properties and its state. #}
{% macro _with_version(load) %}
    {%- set newest = delta_scd2.newest_commit(load.target) -%}
    {%- do delta_scd2.note_invocation_before(delta_scd2.invocation_of(newest)) -%}
    {%- set load = dict(
        delta_scd2._with_properties(load, delta_scd2.read_properties(load.target)),
        target_as_read=load.target ~ ' version as of ' ~ newest['version'],
    ) -%}
    {{- return(dict(load, target_state=delta_scd2.target_state(load))) -}}
{% endmacro %}


{# Whether the load can be one comparison. A rebuild, other columns than before, or hashes that the
   last load did not keep concern more than the current versions. #}
{% macro _may_be_compared(load) %}
    {{- return(load.exists and not flags.EMPTY and delta_scd2.compares_extracts(load.settings)
        and delta_scd2.changes_current_versions_only(load)
        and not load.added_columns and not load.bound_in_target
        and (load.has_state_hash or not load.settings.columns.state_hash)) -}}
{% endmacro %}


{# Compares an extract with the current versions, and plans the load by what that counts. If it
   counts anything out of the ordinary, the rows of the model go through all steps of a load. #}
{% macro _compare(load) %}
    {%- do delta_scd2.drop_leftovers() -%}
    {%- do run_query(create_temporary_view(load.source_view, delta_scd2.source_rows_sql(load))) -%}
    {%- set table = delta_scd2.staged_table('compared') -%}
    {%- set compared = dict(load, target_as_read=load.target, changes=table) -%}
    {%- set compared = dict(compared, changes_sql=delta_scd2.comparison_sql(compared)) -%}
    {%- do delta_scd2.stage_table(table, compared.changes_sql) -%}
    {%- set counts = delta_scd2.comparison_counts(compared) -%}
    {%- if delta_scd2._is_plain_extract(load, counts) -%}
        {{- return(delta_scd2._with_comparison(compared, counts)) -}}
    {%- endif -%}
    {%- set load = delta_scd2._with_version(load) -%}
    {%- if counts['repeated'] and run_query(delta_scd2.current_twice_sql(load)).rows -%}
        {#- Two current versions of a key repeat the row that they were compared with. -#}
        {%- do delta_scd2.drop_staged() -%}
        {{- return(delta_scd2.stage_all_rows(load)) -}}
    {%- endif -%}
    {{- return(delta_scd2.read_rows_from(load, delta_scd2.compared_rows(load, table))) -}}
{% endmacro %}


{# Whether the rows are one extract that passes every check: later than all that was applied, or the
   last one again, without a difference. #}
{% macro _is_plain_extract(load, counts) %}
    {%- set settings = load.settings -%}
    {%- set extract_time, boundary = counts['first_time'], counts['last_boundary'] -%}
    {%- set last = load.applied_extracts | max if load.applied_extracts else 0 -%}
    {%- set effects = counts['new_keys'] + counts['changed'] + counts['returned']
        + counts['deleted'] -%}
    {%- set last_time = settings.open_end or '9999-12-31 23:59:59.999999' -%}
    {%- set is_next = extract_time > [last, boundary] | max -%}
    {%- set is_last_again = extract_time == last and not effects -%}
    {{- return(counts['row_count'] >= [settings.min_rows, 1] | max
        and counts['wrong_rows'] + counts['repeated'] + counts['same_hash'] == 0
        and counts['last_time'] == extract_time
        and (is_next or is_last_again)
        and not (settings.effective_at and boundary > last)
        and counts['deleted'] <= settings.max_delete_fraction * counts['live']
        and extract_time - delta_scd2.gap_micros(settings) > counts['last_ending']
        and extract_time < delta_scd2.ts_micros(last_time | string)
        and (counts['unknown_members'] == 1 or not settings.unknown_member)) -}}
{% endmacro %}


{# The load as its comparison plans it. #}
{% macro _with_comparison(load, counts) %}
    {%- set extract_time = counts['first_time'] -%}
    {%- set opened = counts['new_keys'] + counts['changed'] + counts['returned'] -%}
    {%- set changes = opened + counts['deleted'] > 0 -%}
    {{- return(dict(
        load,
        is_compared=true,
        staged_rows=load.changes,
        hashed_rows=load.changes,
        row_counts={extract_time: counts['row_count']},
        pending_extracts=[extract_time] | reject('in', load.applied_extracts) | list,
        target_state={'fingerprint': counts['fingerprint']},
        lacks_unknown_member=false,
        may_change=changes,
        plan='compared' if changes else 'none',
        summary=dict(
            load.summary,
            opened=opened,
            closed=counts['changed'],
            deleted=counts['deleted'],
            altered=counts['returned'],
        ),
    )) -}}
{% endmacro %}
