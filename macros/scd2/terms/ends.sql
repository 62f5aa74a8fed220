{% macro is_open_sql(settings) %}
    {{- return(delta_scd2.backticked(settings.columns.effective_to) ~ ' <=> '
        ~ delta_scd2.open_end_literal(settings)) -}}
{% endmacro %}


{% macro open_end_literal(settings) %}
    {%- if settings.open_end is none -%}
        {{- return('cast(null as timestamp)') -}}
    {%- endif -%}
    {{- return(delta_scd2.timestamp_literal(delta_scd2.ts_micros(settings.open_end | string))) -}}
{% endmacro %}


{% macro closing_sql(settings, boundary_sql) %}
    {{- return(delta_scd2._shifted_sql(settings, boundary_sql, '-')) -}}
{% endmacro %}


{# The same for a date or a time without a zone, which gets one first: with it, the time before may
   be another one. #}
{% macro closing_in_zone_sql(settings, boundary_sql) %}
    {{- return(boundary_sql if delta_scd2.gap_micros(settings) == 0
        else delta_scd2.closing_sql(settings, 'cast(' ~ boundary_sql ~ ' as timestamp)')) -}}
{% endmacro %}


{# The inverse of `closing_sql`: the time at which a closed version was superseded or deleted. #}
{% macro end_of_sql(settings, effective_to_sql) %}
    {{- return(delta_scd2._shifted_sql(settings, effective_to_sql, '+')) -}}
{% endmacro %}


{# An interval of days would follow the session time zone, where some days have 23 or 25 hours. #}
{% macro _shifted_sql(settings, time_sql, sign) %}
    {%- set gap = delta_scd2.gap_micros(settings) -%}
    {%- if gap == 0 -%}
        {{- return(time_sql) -}}
    {%- elif gap < 24 * 3600 * 1000000 -%}
        {{- return(time_sql ~ ' ' ~ sign ~ ' interval ' ~ settings.closing_gap) -}}
    {%- endif -%}
    {{- return('timestamp_micros(unix_micros(' ~ time_sql ~ ') ' ~ sign ~ ' ' ~ gap ~ ')') -}}
{% endmacro %}


{% macro gap_micros(settings) %}
    {%- if settings.closing_gap | string == '0' -%}
        {{- return(0) -}}
    {%- endif -%}
    {%- set number, unit = settings.closing_gap.split(' ') -%}
    {%- set micros = {
        'microsecond': 1, 'millisecond': 1000, 'second': 1000000,
        'minute': 60000000, 'hour': 3600000000, 'day': 86400000000,
    } -%}
    {{- return(number | int * micros[unit.rstrip('s')]) -}}
{% endmacro %}


{% macro end_sql(settings) %}
    {{- return(delta_scd2.end_of_sql(
        settings, delta_scd2.backticked(settings.columns.effective_to)
    )) -}}
{% endmacro %}
