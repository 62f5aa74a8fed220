{% macro immutable_options(load) %}
    {%- set settings = load.settings -%}
    {{- return({
        'scd2.unique_key': delta_scd2.redaction_safe_json(settings.unique_key | map('lower') | list),
        'scd2.surrogate_key': settings.surrogate_key,
        'scd2.flag_values': delta_scd2.redaction_safe_json(settings.flag_values),
        'scd2.open_end': delta_scd2._recorded_open_end(load),
        'scd2.closing_gap': delta_scd2._recorded_gap(load),
        'scd2.hard_deletes': settings.hard_deletes,
        'scd2.unknown_member': settings.unknown_member | string | lower,
    }) -}}
{% endmacro %}


{# Who only reads the history offers no way to discard it. #}
{% macro changed_immutable_options(load, may_discard=true) %}
    {%- set mistakes = [] -%}
    {#- An option may change from false to true: an unknown member can be added to a history, but
        not removed. -#}
    {%- for name, value in delta_scd2.immutable_options(load).items() -%}
        {%- set before = delta_scd2._recorded_value(name, load.properties.get(name, value)) -%}
        {%- set now = delta_scd2._recorded_value(name, value) -%}
        {%- if before not in [now, 'false'] -%}
            {%- do mistakes.append('`' ~ name.split('.')[1] ~ '` was `'
                ~ delta_scd2._shown_value(name, before) ~ '` when ' ~ load.target
                ~ ' was built and is `' ~ delta_scd2._shown_value(name, now)
                ~ '` now, which its history cannot follow: restore the option'
                ~ (' (the model can return a renamed column by its old name)'
                    if name == 'scd2.unique_key' and fromjson(before) | length == fromjson(now) | length)
                ~ (', or ' ~ delta_scd2.how_to_discard_history() if may_discard)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# Normalizes JSON lists, so that different spellings of a list are equal, and a flag that was written
   as a number. #}
{% macro _recorded_value(name, property) %}
    {%- if name == 'scd2.unknown_member' -%}
        {{- return({'0': 'false', '1': 'true'}.get(property, property)) -}}
    {%- endif -%}
    {{- return(tojson(fromjson(property)) if property.startswith('[') else property) -}}
{% endmacro %}


{# The value as a person writes it. A null is recorded as `None`. #}
{% macro _shown_value(name, recorded) %}
    {{- return('null' if [name, recorded] == ['scd2.open_end', 'None'] else recorded) -}}
{% endmacro %}


{# Keeps the recorded text of the gap if the current text means the same. #}
{% macro _recorded_gap(load) %}
    {%- set now = load.settings.closing_gap | string -%}
    {%- set before = load.properties.get('scd2.closing_gap', now) -%}
    {{- return(before
        if delta_scd2.gap_micros({'closing_gap': before}) == delta_scd2.gap_micros(load.settings)
            else now) -}}
{% endmacro %}


{# Keeps the recorded text of the open end if the current text means the same time. #}
{% macro _recorded_open_end(load) %}
    {%- set now = load.settings.open_end | string -%}
    {%- set before = load.properties.get('scd2.open_end', now) -%}
    {{- return(before
        if delta_scd2.is_timestamp_text(now)
            and delta_scd2.ts_micros(before) == delta_scd2.ts_micros(now)
            else now) -}}
{% endmacro %}
