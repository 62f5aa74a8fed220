{# Whether events may fall between versions, and so take some away. #}
{% macro may_change_history(dimension) %}
    {{- return(dimension.settings.source_kind != 'snapshot' or dimension.rebuild_from is not none) -}}
{% endmacro %}


{% macro changes_current_versions_only(dimension) %}
    {{- return(not may_change_history(dimension) and not dimension.is_amended and not dimension.overwrite_columns
        and not dimension.settings.inferred_member) -}}
{% endmacro %}


{# Whether most keys may be left out at a glance: the rows are complete extracts, and nothing but them changes a version. #}
{% macro leaves_out_unchanged_keys(dimension) %}
    {{- return(dimension.exists and dimension.moments != [] and changes_current_versions_only(dimension)) -}}
{% endmacro %}


{# Whether the same glance tells if an extract gives a key twice: every row, and every live version, is accounted for. #}
{% macro accounts_for_all_rows(dimension) %}
    {{- return(leaves_out_unchanged_keys(dimension) and dimension.settings.hard_deletes != 'ignore') -}}
{% endmacro %}
