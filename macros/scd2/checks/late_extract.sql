{# A late extract would change the history that later extracts were compared with. #}
{% macro check_late_extract(load, extract_time, last) %}
    {%- if extract_time not in load.applied_extracts -%}
        {%- do delta_scd2.raise_refusal(
            'the extract of ' ~ delta_scd2.utc_text(extract_time)
                ~ ' UTC comes too late: the dimension stands at '
                ~ delta_scd2.utc_text(last) ~ ' UTC',
            'apply extracts in the order of `' ~ load.settings.effective_at
                ~ '`: leave this one out of the model, or let the model return the '
                ~ 'extracts since then too, for what it lacks is taken out of the history, '
                ~ 'and ' ~ delta_scd2.how_to_rebuild(extract_time)
        ) -%}
    {%- endif -%}
{% endmacro %}
