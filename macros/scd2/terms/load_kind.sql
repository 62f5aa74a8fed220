{# Whether the load may change past versions: late rows can split or remove them. #}
{% macro may_change_history(load) %}
    {{- return(not load.settings.reads_extracts or load.rebuild_from is not none) -}}
{% endmacro %}


{# Whether `--empty` makes the table without rows, and so without anything to remember. #}
{% macro is_emptied(load) %}
    {{- return(flags.EMPTY and not load.row_counts) -}}
{% endmacro %}


{% macro changes_current_versions_only(load) %}
    {{- return(not delta_scd2.may_change_history(load) and not load.schema_changed
        and not load.overwrite_columns and not load.settings.inferred_member) -}}
{% endmacro %}


{# Whether the rows of a load can be compared with the current versions at once: these show every time
   at which something changed, and later rows change nothing else. #}
{% macro compares_at_once(settings) %}
    {{- return((settings.keeps_deleted_current
            or (settings.ignores_deletes and not settings.change_type))
        and not settings.merges_by_three_clauses and not settings.overwrite_columns
        and not settings.inferred_member) -}}
{% endmacro %}


{# Whether unchanged keys can be skipped: only full extracts change versions in this load. #}
{% macro leaves_out_unchanged_keys(load) %}
    {{- return(load.exists and load.pending_extracts != []
        and delta_scd2.changes_current_versions_only(load)) -}}
{% endmacro %}


{# Whether the search for changed keys also detects duplicate keys in an extract: it counts every
   row and every live version. #}
{% macro accounts_for_all_rows(load) %}
    {{- return(delta_scd2.leaves_out_unchanged_keys(load) and not load.settings.ignores_deletes) -}}
{% endmacro %}
