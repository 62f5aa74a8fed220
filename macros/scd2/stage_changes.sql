{# Stages and checks the change set. A first load needs none if every row opens a version. #}
{% macro _stage_changes(load) %}
    {%- if delta_scd2.opens_all_rows(load) -%}
        {%- set opened = load.row_counts.values() | sum + (1 if load.lacks_unknown_member else 0) -%}
        {{- return(dict(
            load, plan='create', opens_all_rows=true, summary=dict(load.summary, opened=opened)
        )) -}}
    {%- endif -%}
    {%- if delta_scd2.leaves_out_unchanged_keys(load) -%}
        {%- set load = delta_scd2.stage_changed_keys(load) if load.changed_key_counts is none else load -%}
        {%- do delta_scd2.check_row_counts(load) if delta_scd2.accounts_for_all_rows(load) -%}
    {%- endif -%}
    {%- if load.exists and not delta_scd2._query_may_change(load) -%}
        {{- return(dict(load, may_change=false)) -}}
    {%- endif -%}
    {%- if not load.settings.reads_extracts -%}
        {%- set load = delta_scd2.stage_stored_of_batch(load) if load.exists else load -%}
        {%- do delta_scd2.check_conflicts(load) if load.row_counts -%}
    {%- endif -%}
    {%- set load = dict(load, changes_sql=delta_scd2.change_set_sql(load)) -%}
    {%- do delta_scd2.show_statements(load) -%}
    {%- do delta_scd2.stage_table(load.changes, load.changes_sql) -%}
    {%- set load = dict(load, summary=delta_scd2.checked_summary(load)) -%}
    {{- return(dict(load, plan=delta_scd2._write_plan(load))) -}}
{% endmacro %}


{# Whether the change set can contain rows. #}
{% macro _query_may_change(load) %}
    {%- if delta_scd2.leaves_out_unchanged_keys(load) -%}
        {{- return(load.lacks_unknown_member or load.changed_key_counts['changed'] > 0) -}}
    {%- endif -%}
    {%- set brings_rows = load.pending_extracts if load.settings.reads_extracts else load.row_counts -%}
    {{- return(brings_rows | length > 0 or load.schema_changed or load.lacks_unknown_member
        or (load.settings.inferred_member is not none and delta_scd2.query_any_row(load.hashed_rows))) -}}
{% endmacro %}


{# How the change set is written. Three clauses need rows, because the check for concurrent writes
   is joined to them. #}
{% macro _write_plan(load) %}
    {%- if not load.exists -%}
        {{- return('create') -}}
    {%- elif load.summary.values() | sum == 0 -%}
        {{- return('none') -}}
    {%- endif -%}
    {%- set is_three_clause = load.settings.merges_by_three_clauses
        and delta_scd2._is_one_extract_of_current_versions(load)
        and delta_scd2.query_any_row(load.hashed_rows) and not delta_scd2._query_stale_state_hashes(load) -%}
    {{- return('three_clause' if is_three_clause else 'staged') -}}
{% endmacro %}


{# Whether the load is one full extract that changes current versions only. #}
{% macro _is_one_extract_of_current_versions(load) %}
    {{- return(load.pending_extracts | length == 1
        and delta_scd2.changes_current_versions_only(load)
        and not load.lacks_unknown_member) -}}
{% endmacro %}


{# Whether live versions must be updated for their state hash alone, which the three-clause MERGE
   cannot do. #}
{% macro _query_stale_state_hashes(load) %}
    {%- set settings = load.settings -%}
    {{- return(settings.columns.state_hash and delta_scd2.query_any_row(
        load.changes ~ " where _scd2_action = 'change' and not _scd2_newly_closed and not _scd2_newly_deleted and "
            ~ delta_scd2.is_current_sql(settings)
    )) -}}
{% endmacro %}
