{# With the wrong closing gap, every end would look like a deletion. #}
{% macro _check_unlikely_gaps(old, facts) %}
    {%- if 'closing_gap' not in old.options and (facts['usual_gap'] or 0) > 0 -%}
        {%- set gap = delta_scd2._gap_text(facts['usual_gap']) -%}
        {%- do delta_scd2.raise_refusal(
            'the versions of ' ~ old.relation ~ ' do not end where the next one of their key begins, '
                ~ 'but most often ' ~ gap ~ ' before',
            'say `closing_gap: ' ~ gap ~ '`, or `closing_gap: 0` if the keys were deleted in between'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _gap_text(micros) %}
    {%- set units = {
        'day': 86400000000,
        'hour': 3600000000,
        'minute': 60000000,
        'second': 1000000,
        'millisecond': 1000,
    } -%}
    {%- for unit, length in units.items() if micros % length == 0 -%}
        {{- return(micros // length ~ ' ' ~ unit ~ ('s' if micros // length != 1 else '')) -}}
    {%- endfor -%}
    {{- return(micros ~ ' microsecond' ~ ('s' if micros != 1 else '')) -}}
{% endmacro %}


{# Versions, or deletions, that last no longer than the dimension's closing gap. #}
{% macro _gap_problems(load) %}
    {%- set from_column = delta_scd2.backticked(load.settings.columns.effective_from) -%}
    {%- set is_version = 'not _scd2_is_tombstone and ' -%}
    {%- set problems = [] -%}
    {%- do problems.append({
        'where': is_version ~ '_scd2_valid_to > ' ~ from_column ~ ' and '
            ~ delta_scd2.closing_sql(load.settings, '_scd2_valid_to') ~ ' <= ' ~ from_column,
        'what': 'last no longer than the `closing_gap` of ' ~ load.name,
        'remedy': 'choose a smaller one there',
    }) -%}
    {%- do problems.append({
        'where': is_version ~ '_scd2_valid_to < _scd2_returns_at and '
            ~ delta_scd2.closing_sql(load.settings, '_scd2_returns_at') ~ ' <= _scd2_valid_to',
        'what': 'are deleted for no longer than the `closing_gap` of ' ~ load.name,
        'remedy': 'choose a smaller one there',
    }) if load.settings.keeps_tombstones -%}
    {{- return(problems) -}}
{% endmacro %}
