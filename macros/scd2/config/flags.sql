{# A full refresh discards history, so --full-refresh alone is not enough. #}
{% macro confirmed_full_refresh(existing) %}
    {%- if not flags.FULL_REFRESH or config.get('full_refresh') == false -%}
        {{- return(false) -}}
    {%- elif not config.get('full_refresh') and not var('scd2_discard_history', false) -%}
        {%- do delta_scd2.raise_refusal(
            '--full-refresh would throw away the history in ' ~ existing,
            "leave the flag out; to rebuild all the same, configure `full_refresh: true` or add "
                ~ "--vars '{scd2_discard_history: true}'"
        ) -%}
    {%- endif -%}
    {{- return(true) -}}
{% endmacro %}


{# Whether `--empty` or `--sample` limits the rows. #}
{% macro is_partial_run() %}
    {{- return(flags.EMPTY or invocation_args_dict.get('sample')) -}}
{% endmacro %}


{# The value of the variable `scd2_rebuild_from` in microseconds since the epoch, or none. #}
{% macro rebuild_from(settings) %}
    {%- set text = var('scd2_rebuild_from', none) -%}
    {%- if text is none -%}
        {{- return(none) -}}
    {%- elif not settings.reads_extracts -%}
        {%- do delta_scd2.raise_refusal(
            '`scd2_rebuild_from` rebuilds from complete extracts, and `source_kind` is `'
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
