{# A late extract would change the history that later extracts were compared with. #}
{% macro check_late_extract(load, extract_time, last) %}
    {%- if extract_time not in load.applied_extracts -%}
        {%- do delta_scd2.raise_refusal(
            'the extract of ' ~ delta_scd2.utc_text(extract_time)
                ~ ' UTC comes too late: the dimension already has the history up to '
                ~ delta_scd2.utc_text(last) ~ ' UTC',
            'leave this extract out of the model. Or, to put it into the history, let the model '
                ~ 'return it and every later extract (one that is missing is lost from the '
                ~ 'history), and run ' ~ delta_scd2.rebuild_command(extract_time)
        ) -%}
    {%- endif -%}
{% endmacro %}
