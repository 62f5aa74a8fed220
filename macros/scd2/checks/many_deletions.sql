{% macro _check_many_deletions(load, extract_time, deleted) %}
    {%- set fraction = load.settings.max_delete_fraction -%}
    {%- set position = load.pending_extracts.index(extract_time) -%}
    {%- if position > 0 -%}
        {%- set live = load.row_counts[load.pending_extracts[position - 1]] -%}
    {%- elif not load.rebuild_from -%}
        {%- set live = load.target_state['live'] -%}
    {%- else -%}
        {%- set live = run_query('select count(*) as live from ('
            ~ delta_scd2.live_versions_sql(load) ~ ')').rows[0]['live'] | int -%}
    {%- endif -%}
    {%- if delta_scd2.deletes_too_many(load, deleted, live) -%}
        {%- set is_deleted_then = '_scd2_newly_deleted and _scd2_valid_to = '
            ~ delta_scd2.timestamp_literal(extract_time) -%}
        {%- do delta_scd2.raise_refusal(
            'the extract of ' ~ delta_scd2.utc_text(extract_time) ~ ' UTC would delete '
                ~ deleted ~ ' of ' ~ live ~ ' live keys, more than `max_delete_fraction` ('
                ~ fraction ~ ') allows: '
                ~ delta_scd2._offenders(load, load.changes, is_deleted_then),
            delta_scd2.hint_at_times_of_rows(load)
                ~ 'load the whole extract; if so many keys are really gone, raise `max_delete_fraction`'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# Divides, because a product such as 0.29 * 100 is a little less than 29. #}
{% macro deletes_too_many(load, deleted, live) %}
    {{- return(deleted > 0 and (live == 0 or deleted / live > load.settings.max_delete_fraction)) -}}
{% endmacro %}
