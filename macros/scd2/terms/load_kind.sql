{# Whether events may fall between versions, and so take some away. #}
{% macro may_change_history(load) %}
    {{- return(not load.settings.reads_extracts or load.rebuild_from is not none) -}}
{% endmacro %}


{% macro changes_current_versions_only(load) %}
    {{- return(not delta_scd2.may_change_history(load) and not load.schema_changed and not load.overwrite_columns
        and not load.settings.inferred_member) -}}
{% endmacro %}


{# Whether unchanged keys may be left out: the rows are complete extracts, and nothing but them
   changes a version. #}
{% macro leaves_out_unchanged_keys(load) %}
    {{- return(load.exists and load.pending_extracts != [] and delta_scd2.changes_current_versions_only(load)) -}}
{% endmacro %}


{# Whether the search for changed keys also tells if an extract gives a key twice: every row, and
   every live version, is accounted for. #}
{% macro accounts_for_all_rows(load) %}
    {{- return(delta_scd2.leaves_out_unchanged_keys(load) and not load.settings.ignores_deletes) -}}
{% endmacro %}
