{% macro _check_short_versions(load, too_short) %}
    {%- if too_short -%}
        {%- do delta_scd2.raise_refusal(
            too_short ~ ' version(s) would end before they begin, as `closing_gap` is '
                ~ load.settings.closing_gap ~ ': '
                ~ delta_scd2._offenders(load, load.changes, delta_scd2._is_too_short_sql(load)),
            'leave more time between the rows of a key, or choose a smaller `closing_gap`'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _is_too_short_sql(load) %}
    {%- set names = load.settings.columns -%}
    {{- return("_scd2_action <> 'remove' and " ~ delta_scd2.backticked(names.effective_to) ~ ' <= '
        ~ delta_scd2.backticked(names.effective_from)) -}}
{% endmacro %}
