{# Settings and moments as Spark SQL. #}

{# A moment, in microseconds since the epoch, as a literal that means the same in every session time zone. #}
{% macro _timestamp_literal(moment) %}
    {{- return("timestamp '" ~ _utc_text(moment) ~ "+00:00'") -}}
{% endmacro %}


{% macro _flag_literal(settings, value) %}
    {%- set stored = settings.flag_values[0 if value else 1] -%}
    {{- return(_sql_string(stored) if stored is string else (stored | string | lower)) -}}
{% endmacro %}


{% macro _open_end_literal(settings) %}
    {%- if settings.open_end is none -%}
        {{- return('cast(null as timestamp)') -}}
    {%- endif -%}
    {{- return(_timestamp_literal(_micros(settings.open_end | string))) -}}
{% endmacro %}


{% macro _closing_sql(settings, boundary_sql) %}
    {{- return(_shifted_sql(settings, boundary_sql, '-')) -}}
{% endmacro %}


{# The inverse: the moment at which a closed version gave way to what followed. #}
{% macro _end_of(settings, effective_to_sql) %}
    {{- return(_shifted_sql(settings, effective_to_sql, '+')) -}}
{% endmacro %}


{# An interval of a day or more would count the days of the session time zone, some of which have 23 or 25 hours. #}
{% macro _shifted_sql(settings, moment_sql, sign) %}
    {%- set gap = _gap_micros(settings) -%}
    {%- if gap == 0 -%}
        {{- return(moment_sql) -}}
    {%- elif gap < 24 * 3600 * 1000000 -%}
        {{- return(moment_sql ~ ' ' ~ sign ~ ' interval ' ~ settings.closing_gap) -}}
    {%- endif -%}
    {{- return('timestamp_micros(unix_micros(cast(' ~ moment_sql ~ ' as timestamp)) ' ~ sign ~ ' ' ~ gap ~ ')') -}}
{% endmacro %}


{% macro _gap_micros(settings) %}
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


{% macro _utc_text(moment) %}
    {%- set epoch = modules.datetime.datetime(1970, 1, 1) -%}
    {%- set text = (epoch + modules.datetime.timedelta(microseconds=moment)).isoformat(' ') -%}
    {{- return(text.rstrip('0') if '.' in text else text) -}}
{% endmacro %}


{# The inverse of _utc_text; a date alone is its midnight. #}
{% macro _micros(utc_text) %}
    {%- set since = modules.datetime.datetime.fromisoformat(utc_text) - modules.datetime.datetime(1970, 1, 1) -%}
    {{- return((since.days * 86400 + since.seconds) * 1000000 + since.microseconds) -}}
{% endmacro %}


{# Whether a text is a UTC timestamp, or a date, of the calendar. #}
{% macro _is_moment(text) %}
    {%- set parts = modules.re.fullmatch('(\\d{4})-(\\d\\d)-(\\d\\d)( ([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?)?', text) -%}
    {%- if not parts or parts[1] == '0000' or not 1 <= parts[2] | int <= 12 -%}
        {{- return(false) -}}
    {%- endif -%}
    {#- Months are as long as four hundred years before or after; Python's years end with 9999. -#}
    {%- set month = modules.datetime.date(2000 + parts[1] | int % 400, parts[2] | int, 1) -%}
    {%- set next_month = (month + modules.datetime.timedelta(days=31)).replace(day=1) -%}
    {{- return(1 <= parts[3] | int <= (next_month - month).days) -}}
{% endmacro %}
