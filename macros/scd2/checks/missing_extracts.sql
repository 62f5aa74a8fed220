{# A history can only be rebuilt from extracts that the source still has. #}
{% macro check_missing_extracts(load, extract_times) %}
    {%- if not extract_times -%}
        {%- do delta_scd2.raise_refusal(
            'the source has no extract from ' ~ delta_scd2.utc_text(load.rebuild_from)
                ~ ' UTC on, the time in `scd2_rebuild_from`',
            'choose the time of an extract that the source still has'
        ) -%}
    {%- endif -%}
{% endmacro %}
