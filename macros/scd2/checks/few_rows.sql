{# A source that failed halfway returns few rows, and missing keys look deleted. #}
{% macro _check_few_rows(load, row) %}
    {%- set is_skipped = row['first_time'] in load.applied_extracts and not load.rebuild_from -%}
    {%- if load.settings.reads_extracts and row['row_count'] < load.settings.min_rows
        and not is_skipped -%}
        {%- do delta_scd2._raise_few_rows(
            delta_scd2._rows_of(load, row), row['row_count'], load.settings
        ) -%}
    {%- endif -%}
{% endmacro %}


{# An extract without rows has no time, so it is in none of the counts. #}
{% macro _check_empty_extract(load) %}
    {%- do delta_scd2._raise_few_rows('the extract', 0, load.settings)
        if load.settings.min_rows > 0 -%}
{% endmacro %}


{% macro _raise_few_rows(which, row_count, settings) %}
    {%- set remedy = 'if the source may be this small, lower `min_rows`; absent keys are then '
        ~ 'deleted' -%}
    {%- if not row_count and settings.effective_at -%}
        {%- set remedy = 'if there is no new one, return the last one again, or set `min_rows` to 0' -%}
    {%- endif -%}
    {%- do delta_scd2.raise_refusal(
        which ~ ' has ' ~ row_count ~ ' row(s), fewer than `min_rows` (' ~ settings.min_rows ~ ')',
        'load the whole extract; ' ~ remedy
    ) -%}
{% endmacro %}
