{# A full refresh discards history, so --full-refresh alone is not enough. #}
{% macro check_full_refresh(existing) %}
    {%- if not config.get('full_refresh') and not var('scd2_discard_history', false) -%}
        {%- do delta_scd2.raise_refusal(
            '--full-refresh would throw away the history in ' ~ existing,
            "leave the flag out; to rebuild anyway, configure `full_refresh: true` or add "
                ~ "--vars '{scd2_discard_history: true}'"
        ) -%}
    {%- endif -%}
{% endmacro %}
