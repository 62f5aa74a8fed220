{% macro how_to_rebuild(extract_time) %}
    {{- return('rebuild the history from it on with '
        ~ delta_scd2.rebuild_command(extract_time)) -}}
{% endmacro %}


{% macro rebuild_command(extract_time) %}
    {{- return('`dbt run --select ' ~ delta_scd2.node_address(model)
        ~ " --vars '{scd2_rebuild_from: \"" ~ delta_scd2.utc_text(extract_time) ~ "\"}'`") -}}
{% endmacro %}


{# Says, before a remedy, what else may be wrong: if the model returns several times and each key at
   one of them, these may be the times at which rows were updated, and not those of extracts. #}
{% macro hint_at_times_of_rows(load) %}
    {%- if load.row_counts | length < 2
        or run_query(delta_scd2.key_twice_sql(load, delta_scd2._real_rows(load, load.staged_rows))).rows -%}
        {{- return('') -}}
    {%- endif -%}
    {{- return('if `' ~ load.settings.effective_at ~ '` is the time at which a row was updated, and not '
        ~ 'that of the extract, remove `effective_at`, or set `source_kind` to `increment`; otherwise ') -}}
{% endmacro %}
