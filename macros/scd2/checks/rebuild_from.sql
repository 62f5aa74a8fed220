{# The value of the variable `scd2_rebuild_from` in microseconds since the epoch, or none. #}
{% macro rebuild_from(settings) %}
    {%- set text = var('scd2_rebuild_from', none) -%}
    {%- if text is none -%}
        {{- return(none) -}}
    {%- elif not settings.reads_extracts -%}
        {%- do delta_scd2.raise_refusal(
            '`scd2_rebuild_from` rebuilds from full extracts, and `source_kind` is `'
                ~ settings.source_kind ~ '`',
            'leave this model out of the run'
        ) -%}
    {%- elif not settings.effective_at -%}
        {%- do delta_scd2.raise_refusal(
            '`scd2_rebuild_from` rebuilds from extracts told apart by `effective_at`, which '
                ~ 'this model does not have',
            'leave this model out of the run'
        ) -%}
    {%- elif not delta_scd2.is_timestamp_text(text | string) -%}
        {%- do delta_scd2.raise_refusal(
            '`scd2_rebuild_from` is `' ~ text ~ '`',
            'give a date or timestamp such as 2024-01-31 or 2024-01-31T12:00:00Z; it is UTC unless '
                ~ 'it says otherwise'
        ) -%}
    {%- endif -%}
    {{- return(delta_scd2.ts_micros(text | string)) -}}
{% endmacro %}
