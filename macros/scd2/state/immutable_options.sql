{% macro immutable_options(dimension) %}
    {%- set settings = dimension.settings -%}
    {{- return({
        'scd2.unique_key': redaction_safe_json(settings.unique_key | map('lower') | list),
        'scd2.surrogate_key': settings.surrogate_key,
        'scd2.flag_values': tojson(settings.flag_values),
        'scd2.open_end': _recorded_open_end(dimension),
        'scd2.closing_gap': settings.closing_gap | string,
        'scd2.hard_deletes': settings.hard_deletes,
        'scd2.unknown_member': settings.unknown_member | string | lower,
    }) -}}
{% endmacro %}


{% macro changed_immutable_options(dimension, recorded) %}
    {%- set mistakes = [] -%}
    {#- What was false may become true: an unknown member is added to a history, not taken away. -#}
    {%- for name, value in immutable_options(dimension).items() -%}
        {%- set before, now = _recorded_value(recorded.get(name, value)), _recorded_value(value) -%}
        {%- if before not in [now, 'false'] -%}
            {%- do mistakes.append('`' ~ name.split('.')[1] ~ '` was `' ~ before ~ '` when ' ~ dimension.target
                ~ ' was built and is `' ~ now ~ '` now, which its history cannot follow: go back, or rebuild it') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# What a property says; a list that is written in two ways is the same list. #}
{% macro _recorded_value(property) %}
    {{- return(tojson(fromjson(property)) if property.startswith('[') else property) -}}
{% endmacro %}


{# The open end as it was first written, where what is written now is the same time. #}
{% macro _recorded_open_end(dimension) %}
    {%- set now = dimension.settings.open_end | string -%}
    {%- set before = dimension.recorded.get('scd2.open_end', now) -%}
    {{- return(before if is_timestamp_text(now) and ts_micros(before) == ts_micros(now) else now) -}}
{% endmacro %}
