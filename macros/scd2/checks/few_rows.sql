{% macro _raise_few_rows(which, row_count, settings) %}
    {%- set remedy = 'if the source may be this small, lower `min_rows`, and mind that a key which is absent is deleted' -%}
    {%- if not row_count and settings.effective_at -%}
        {%- set remedy = 'where none is new, let the model return the last one again, or set `min_rows` to 0: no row then tells the '
            ~ 'time of an extract, and nothing changes' -%}
    {%- endif -%}
    {%- do delta_scd2.raise_refusal(
        which ~ ' has ' ~ row_count ~ ' row(s), fewer than `min_rows` (' ~ settings.min_rows ~ ')',
        'load the whole extract; ' ~ remedy
    ) -%}
{% endmacro %}
