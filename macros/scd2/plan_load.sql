{# Decides which extracts or rows to apply, after all rows are validated. #}
{% macro _plan_load(load) %}
    {%- set load = delta_scd2._with_row_counts(load) -%}
    {%- set settings = load.settings -%}
    {%- set extract_times = load.row_counts.keys() | list -%}
    {%- do delta_scd2.check_clock(load) if load.exists and extract_times and not settings.effective_at -%}
    {%- if settings.reads_extracts -%}
        {%- set load = dict(load, **(delta_scd2._pending_extracts(load, extract_times) if load.exists
            else {'pending_extracts': extract_times})) -%}
        {%- if extract_times and load.exists and not delta_scd2.accounts_for_all_rows(load) -%}
            {%- do delta_scd2.check_duplicates(load)
                if run_query(delta_scd2.repeats_sql(load)).rows[0]['repeated'] -%}
        {%- endif -%}
    {%- endif -%}
    {%- if load.exists and settings.unknown_member -%}
        {%- set load = dict(load, lacks_unknown_member=not delta_scd2.query_any_row(
            load.target_as_read ~ ' where not (' ~ delta_scd2.is_not_unknown_member_sql(load) ~ ')'
        )) -%}
    {%- endif -%}
    {{- return(load) -}}
{% endmacro %}


{# Validates and counts the rows per extract. Falls back to staging all rows if staging only the
   changed rows is not possible. #}
{% macro _with_row_counts(load) %}
    {#- Under --empty, only a batch that is read by the name of its table has rows. -#}
    {%- set has_no_rows = flags.EMPTY
        and (load.settings.reads_extracts or not delta_scd2.query_any_row(load.hashed_rows)) -%}
    {%- set load = dict(load, **({'row_counts': {}} if has_no_rows else delta_scd2.checked_row_counts(load))) -%}
    {%- if not load.source_view -%}
        {{- return(load) -}}
    {%- endif -%}
    {%- set reduced = delta_scd2._stage_changed_rows(load) -%}
    {%- if reduced is not none -%}
        {{- return(reduced) -}}
    {%- endif -%}
    {%- do delta_scd2.drop_staged() -%}
    {%- set load = delta_scd2.stage_all_rows(load) -%}
    {{- return(dict(load, **delta_scd2.checked_row_counts(load))) -}}
{% endmacro %}
